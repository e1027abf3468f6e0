import { describe, expect, it } from "vitest";
import { utf8Fits } from "../../../src/protocol/bytes.ts";
import { disconnectCodes, errorCodes } from "../../../src/protocol/codes.ts";
import { toldClose, toldError } from "../../../src/access/told-reason.ts";
import { configOf } from "../config/parsed.ts";
import { ChannelFixture } from "./channel-fixture.ts";
import { invalidToken, subscriptionToken } from "./verified-tokens.ts";

const { client: deployed } = configOf({});
const developing = { ...deployed, tellsReasons: true } as const;

/** A channel whose clients are told reasons. */
function development(): ChannelFixture {
  const fixture = new ChannelFixture();
  Object.assign(fixture.config.client, { tellsReasons: true });
  return fixture;
}

describe("a client that is refused under npm start", () => {
  it("[W13] is told the reason behind the message of an error", () => {
    const fixture = development();
    const subscribe = `{"id":2,"subscribe":{"channel":"room"}}`;
    const reason =
      "channel.without_namespace: allow_subscribe_for_client is off and there is no token";
    expect(fixture.ask(fixture.connected(), subscribe)).toStrictEqual([
      `{"id":2,"error":{"code":103,"message":"permission denied: ${reason}"}}`,
    ]);
  });

  it("[W13] is told the reason of a close", () => {
    const fixture = development();
    expect(fixture.ask(fixture.open(), `{"id":1,"connect":{}}`)).toStrictEqual([
      "close 3501 bad request: there is no token, and client.allow_anonymous_connect_without_token is off",
    ]);
    const connect = `{"id":1,"connect":{"token":"t"}}`;
    expect(fixture.ask(fixture.open(), connect, invalidToken)).toStrictEqual([
      "close 3500 invalid token: the token is invalid: the signature is wrong",
    ]);
    const subscribe = `{"id":2,"subscribe":{"channel":"room","token":"t"}}`;
    const forAnother = subscriptionToken({ user: "43" });
    expect(fixture.ask(fixture.connected(), subscribe, forAnother)).toStrictEqual([
      "close 3500 invalid token: the token is for another user",
    ]);
  });

  it.each(["x", "é", "€", "😀"])(
    "[W13] is told no more than a close frame holds: %s",
    (character) => {
      for (let length = 90; length < 130; length++) {
        const reason = character.repeat(length);
        const { code, reason: told } = toldClose(disconnectCodes.badRequest, reason, developing);
        expect(code).toBe(3501);
        expect(utf8Fits(told, 123)).toBe(true);
        expect(told.isWellFormed()).toBe(true);
        expect(`bad request: ${reason}`.startsWith(told)).toBe(true);
        const isWhole = told === `bad request: ${reason}`;
        // Otherwise the next character would be too much.
        expect(isWhole || !utf8Fits(`${told}${character}`, 123)).toBe(true);
      }
    },
  );

  it("[W13] is told a backend's words as they are", () => {
    const error = { code: 107, message: "no such seat", temporary: false };
    expect(toldError(error, "the backend of publish refused it", developing)).toBe(error);
    const code = { code: 3501, reason: "go away" };
    expect(toldClose(code, "the backend of connect refused it", developing)).toBe(code);
  });
});

it("[W13] a client of a deployed Worker is told the protocol's words alone", () => {
  expect(toldError(errorCodes.notAvailable, "presence is off", deployed)).toBe(
    errorCodes.notAvailable,
  );
  const { invalidToken: code } = disconnectCodes;
  expect(toldClose(code, "the token is for another user", deployed)).toBe(code);
});
