import { describe, expect, it } from "vitest";
import { ownChannel } from "../../../src/contract/own-channel.ts";
import { limits } from "../../../src/limits.ts";
import { answerPage } from "../../../src/metrics/live-session.ts";

function answer(frame: string, hasConnected = false): object {
  const given = answerPage(frame, "the-client", hasConnected);
  if (given.outcome === "closed") return { closed: given.code.code };
  return {
    connects: given.connects,
    replies: given.replies.map((one): object => JSON.parse(String(one))),
  };
}

describe("the connection of an operator's page", () => {
  it("[N7] is subscribed to the server's own channel by its connect", () => {
    const [seconds, pong] = [limits.livePingMs / 1_000, true];
    expect(answer('{"id":1,"connect":{}}')).toMatchObject({
      connects: true,
      replies: [{ id: 1, connect: { client: "the-client", subs: { [ownChannel]: {} } } }],
    });
    expect(answer('{"id":1,"connect":{}}')).toMatchObject({
      replies: [{ connect: { ping: seconds, pong } }],
    });
  });

  it("[N7] takes no other command, before its connect or after it", () => {
    expect(answer('{"id":1,"subscribe":{"channel":"x"}}')).toStrictEqual({ closed: 3501 });
    expect(answer("{}")).toStrictEqual({ closed: 3501 });
    expect(answer('{"id":1,"connect":{}}', true)).toStrictEqual({ closed: 3501 });
    expect(answer('{"id":1,"connect":{}}\n{"id":2,"connect":{}}')).toStrictEqual({ closed: 3501 });
    for (const command of ['"subscribe":{"channel":"x"}', '"rpc":{"data":1}', '"refresh":{}'])
      expect(answer(`{"id":2,${command}}`, true)).toMatchObject({
        connects: false,
        replies: [{ id: 2, error: { code: 103 } }],
      });
  });

  it("[N7] answers pings, which are no commands", () => {
    expect(answer("{}", true)).toStrictEqual({ connects: false, replies: [] });
  });

  it("[N7] ends by a frame that can't be read or is too long", () => {
    expect(answer("nonsense", true)).toStrictEqual({ closed: 3501 });
    const long = `{"id":1,"connect":{"token":"${"x".repeat(limits.liveFrameCharactersMax)}"}}`;
    expect(answer(long)).toStrictEqual({ closed: 1009 });
    expect(answer(long.replaceAll("x", "").padEnd(limits.liveFrameCharactersMax))).toMatchObject({
      connects: true,
    });
  });
});
