import { describe, expect, it } from "vitest";
import { PollReader } from "../../../src/transport/poll.ts";

const since = { offset: 4, epoch: "abc" };
const reader = (channel = "news", from: typeof since | undefined = since) =>
  new PollReader(channel, { timeoutMs: 0, ...(from !== undefined && { since: from }) });

function connected(channel: string, subscription: string): string {
  return `{"connect":{"client":"c","subs":{${JSON.stringify(channel)}:${subscription}}}}`;
}

describe("an object's answer to a poll", () => {
  it("[T9] is asked for by a position, or by one that there isn't", () => {
    expect(reader().connectRequest).toBe(
      `{"subs":{"news":{"recover":true,"offset":4,"epoch":"abc"}}}`,
    );
    expect(new PollReader(`"q"`, { timeoutMs: 0 }).connectRequest).toBe(
      String.raw`{"subs":{"\"q\"":{"recover":true,"offset":0,"epoch":"_"}}}`,
    );
  });

  it("[T9][W2] is passed on byte for byte", () => {
    const missed = `{"data":{"a" : 1e400, "__proto__":[]},"offset":5},{"data":"]}","offset":6}`;
    const frame = connected(
      "news",
      `{"recoverable":true,"epoch":"abc","offset":4,"recovered":true,"publications":[${missed}]}`,
    );
    expect(reader().read(frame)).toStrictEqual({
      outcome: "answered",
      kind: "fresh",
      body: `{"publications":[${missed}],"offset":6,"epoch":"abc"}`,
    });
  });

  it("[T9] is waited for, and only pushes of the channel count", () => {
    const poll = reader();
    expect(poll.timedOut()).toStrictEqual({ outcome: "waiting" });
    const frame = connected(
      "news",
      `{"recoverable":true,"epoch":"abc","offset":4,"recovered":true}`,
    );
    expect(poll.read(frame)).toStrictEqual({ outcome: "waiting" });
    for (const line of [
      "{}",
      `{"channel":"other","pub":{"data":1,"offset":5}}`,
      `{"channel":"news","join":{"info":{"user":"","client":"c"}}}`,
    ]) {
      expect(poll.read(line)).toStrictEqual({ outcome: "waiting" });
    }
    expect(poll.timedOut()).toStrictEqual({
      outcome: "answered",
      kind: "nothing",
      body: `{"publications":[],"offset":4,"epoch":"abc"}`,
    });
    const two = [5, 6].map((offset) => `{"channel":"news","pub":{"data":{},"offset":${offset}}}`);
    expect(poll.read(two.join("\n"))).toStrictEqual({
      outcome: "answered",
      kind: "fresh",
      body: `{"publications":[{"data":{},"offset":5},{"data":{},"offset":6}],"offset":6,"epoch":"abc"}`,
    });
  });

  it("[T9] may say that the position was lost, or give it", () => {
    const frame = connected(
      "news",
      `{"recoverable":true,"epoch":"x\\"y","offset":9,"was_recovering":true}`,
    );
    const position = String.raw`"offset":9,"epoch":"x\"y"`;
    expect(reader().read(frame)).toStrictEqual({
      outcome: "answered",
      kind: "unrecovered",
      body: `{"publications":[],${position},"recovered":false}`,
    });
    expect(new PollReader("news", { timeoutMs: 0 }).read(frame)).toStrictEqual({
      outcome: "answered",
      kind: "position",
      body: `{"publications":[],${position}}`,
    });
  });

  it("[T9] gives the newest position where the channel keeps only its newest publication", () => {
    const frame = connected(
      "news",
      `{"recoverable":true,"epoch":"e","recovered":true,"publications":[{"data":1,"offset":7}]}`,
    );
    expect(new PollReader("news", { timeoutMs: 0 }).read(frame)).toMatchObject({
      body: `{"publications":[],"offset":7,"epoch":"e"}`,
    });
  });

  it("[T9] may be nothing: no subscription, or no position", () => {
    expect(reader().read(`{"connect":{"client":"c"}}`)).toStrictEqual({ outcome: "forbidden" });
    expect(reader().read(connected("other", `{"epoch":"e"}`))).toStrictEqual({
      outcome: "forbidden",
    });
    expect(reader().read(connected("news", "{}"))).toStrictEqual({ outcome: "no-positions" });
    // Without recovery, each of its polls would end at once with a signal of insufficient state.
    const positioned = connected("news", `{"epoch":"abc","offset":4,"positioned":true}`);
    expect(reader().read(positioned)).toStrictEqual({ outcome: "no-positions" });
  });
});
