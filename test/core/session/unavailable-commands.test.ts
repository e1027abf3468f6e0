import { describe, expect, it } from "vitest";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import type { VerifiedTokens } from "../../../src/session/ports.ts";
import { Room } from "./channel-fixture.ts";
import { subscriptionToken } from "./verified-tokens.ts";

describe("what Dormouse doesn't have", () => {
  it("[W1] is answered 108 when it is rpc", () => {
    const room = new Room();
    expect(room.ask(room.connected(), `{"id":2,"rpc":{"method":"ping"}}`)).toStrictEqual([
      `{"id":2,"error":{"code":108,"message":"not available"}}`,
    ]);
  });

  it("[W1] closes 3508 when it is send", () => {
    const room = new Room();
    expect(room.ask(room.connected(), `{"send":{"data":1}}`)).toStrictEqual([
      "close 3508 not available",
    ]);
  });

  it("[W1] closes 3501 when it is the ping command: only the empty message is one", () => {
    const room = new Room();
    expect(room.ask(room.connected(), `{"id":2,"ping":{}}`)).toStrictEqual([
      "close 3501 bad request",
    ]);
  });
});

describe("an rpc", () => {
  const ping = `{"id":2,"rpc":{"method":"ping","data":{"n":1}}}`;

  it("[W1] named ping is answered with nothing where that is configured", () => {
    const room = new Room({ rpc: { ping: { enabled: true } } });
    expect(room.ask(room.connected(), ping)).toStrictEqual([`{"id":2,"rpc":{}}`]);
  });

  it.each([
    ["of another name", { ping: { enabled: true } }, `{"id":2,"rpc":{"method":"pong"}}`],
    ["without a name", { ping: { enabled: true } }, `{"id":2,"rpc":{}}`],
    ["named ping where it isn't configured", { ping: { enabled: false } }, ping],
  ])("[W1] %s is answered 108", (_, rpc, command) => {
    const room = new Room({ rpc });
    expect(room.ask(room.connected(), command)).toStrictEqual([
      `{"id":2,"error":{"code":108,"message":"not available"}}`,
    ]);
  });
});

const internal = (id: number): string =>
  `{"id":${id},"error":{"code":100,"message":"internal server error","temporary":true}}`;

describe("a token that nobody can verify now", () => {
  const unavailable = {
    connection: { outcome: "unavailable" },
    subscription: { outcome: "unavailable" },
  } as const satisfies VerifiedTokens;
  it("[A9] lets nobody in, and invites to come again", () => {
    const room = new Room({ client: { allow_anonymous_connect_without_token: true } });
    const peer = room.open({ claims: { user: "42", expireAtSeconds: 0 } });
    expect(room.ask(peer, `{"id":1,"connect":{"token":"t"}}`, unavailable)).toStrictEqual([
      internal(1),
    ]);
    expect(peer.saved.phase).toBe("refused");
  });

  it("[A9] opens no channel, not even an open one, and closes nothing", () => {
    const room = new Room({ options: { allow_subscribe_for_client: true } });
    const peer = room.connected();
    const ask = `{"id":2,"subscribe":{"channel":"room","token":"t"}}`;
    expect(room.ask(peer, ask, unavailable)).toStrictEqual([internal(2)]);
    expect(room.channel.hub.size).toBe(0);
    expect(room.ask(peer, ask, subscriptionToken())).toStrictEqual([`{"id":2,"subscribe":{}}`]);
  });

  it.each([
    [`{"id":3,"refresh":{"token":"t"}}`],
    [`{"id":3,"sub_refresh":{"channel":"room","token":"t"}}`],
  ])("[A9] drops nobody who is connected, and changes nothing: %s", (command) => {
    const room = new Room({ options: { allow_subscribe_for_client: true } });
    const peer = room.subscribed();
    const before = peer.saved;
    expect(room.ask(peer, command, unavailable)).toStrictEqual([internal(3)]);
    expect(peer.saved).toStrictEqual(before);
    expect(peer.session.closed).toBe(false);
  });
});

describe("a closed session", () => {
  it("[S4] does nothing more, whatever is said or due", () => {
    const room = new Room({ options: { allow_subscribe_for_client: true } });
    const peer = room.connected();
    room.ask(peer, `{"send":{}}`);
    const heard = room.ask(peer, `{"id":3,"subscribe":{"channel":"room"}}\n{}\n{"id":4,"rpc":{}}`);
    expect(heard).toStrictEqual([]);
    room.pass(100_000);
    room.end(peer);
    expect(peer.hears()).toStrictEqual([]);
    expect(room.channel.hub.size).toBe(0);
  });

  it("[S4] isn't closed again", () => {
    const room = new Room();
    const peer = room.connected();
    peer.session.disconnect(disconnectCodes.internalServerError);
    peer.session.disconnect(disconnectCodes.badRequest);
    expect(peer.hears()).toStrictEqual(["close 3004 internal server error"]);
  });

  it("[S4] is still closed after sleep, though its socket is listed", () => {
    const room = new Room({ options: { allow_subscribe_for_client: true } });
    const peer = room.subscribed();
    room.ask(peer, `{"send":{}}`);
    room.sleep();
    expect(peer.session.closed).toBe(true);
    expect(room.channel.hub.size).toBe(0);
    room.publish("1");
    expect(room.ask(peer, `{"id":3,"rpc":{}}`)).toStrictEqual([]);
    room.pass(100_000);
    expect(peer.hears()).toStrictEqual([]);
    expect(peer.session.dueAtMs).toBe(Number.POSITIVE_INFINITY);
  });
});
