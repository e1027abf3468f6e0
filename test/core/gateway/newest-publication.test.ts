import { describe, expect, it } from "vitest";
import { at, FollowedChannel, following, read } from "./followed-channel.ts";
import { answerOf, joinedAt, joining, recoveredAt, standing } from "./subscribing-client.ts";
import { Listener } from "./recording-subscription.ts";

describe("who joins for the newest publication", () => {
  it("[L6] gets it, read once for all", () => {
    const channel = standing();
    const crowd = Array.from({ length: 20 }, () => new Listener("7"));
    for (const listener of crowd) channel.join(listener, { mode: "cache", since: at(0, "") });
    channel.port.answer(read([5], at(5)));
    for (const { answers } of crowd) expect(answers).toEqual([recoveredAt(5, 5)]);
    channel.takeStream(1, [6]);
    expect(answerOf(channel, { mode: "cache", since: at(2, "f") })).toEqual(recoveredAt(6, 6));
    expect(answerOf(channel, { mode: "cache", since: at(6) })).toEqual(recoveredAt(6));
    expect(channel.port.calls).toEqual(["follow", "newest"]);
  });

  it("[L6] gets it in the call that follows the channel", () => {
    const { channel, listener } = joining({ mode: "cache", since: at(0, "") });
    expect(channel.port.calls).toEqual(["follow newest"]);
    channel.port.answer(following(at(5)), read([5], at(5)));
    expect(listener.answers).toEqual([recoveredAt(5, 5)]);
  });

  it("[L6] gets it in that call also when it was in another epoch", () => {
    const { channel, listener } = joining({ mode: "cache", since: at(9, "f") });
    channel.port.answer(following(at(5)), read([5], at(5)));
    expect(listener.answers).toEqual([recoveredAt(5, 5)]);
  });

  it("gets the newest one that came while it was read", () => {
    const channel = standing();
    const listener = new Listener("7");
    channel.join(listener, { mode: "cache", since: at(0, "") });
    channel.takeStream(1, [6, 7]);
    channel.port.answer(read([6], at(6)));
    expect(listener.answers).toEqual([recoveredAt(7, 7)]);
  });

  it("gets it though the gateway is behind, and not a second time", () => {
    const channel = standing();
    const listener = new Listener("7");
    channel.join(listener, { mode: "cache", since: at(0, "") });
    channel.port.answer(read([7], at(7)));
    channel.port.answer(read([6, 7], at(7)));
    channel.takeStream(1, [6, 7, 8]);
    expect(listener.answers).toEqual([recoveredAt(7, 7)]);
    expect(listener.heard).toEqual(["8"]);
  });

  it("[O3] makes the gateway catch up when it has been further, on another one", () => {
    const channel = standing();
    channel.join(new Listener("8"), { mode: "cache", since: at(0, "") });
    channel.port.answer(read([5], at(5)));
    const listener = new Listener("7");
    channel.join(listener, { mode: "cache", since: at(7) });
    expect(channel.port.questions).toEqual([{ method: "recover", since: at(5), whole: true }]);
    channel.port.answer(read([6, 7], at(7)));
    expect(listener.answers).toEqual([recoveredAt(7)]);
    channel.takeStream(1, [6, 7, 8]);
    expect(listener.heard).toEqual(["8"]);
  });

  it("[R5] doesn't recover when there is none, or none any more", () => {
    const channel = standing();
    const listener = new Listener("7");
    channel.join(listener, { mode: "cache", since: at(0, "") });
    channel.port.answer({ outcome: "unrecoverable", position: at(5) });
    expect(listener.answers).toEqual([joinedAt(5)]);
    const fresh = new FollowedChannel();
    fresh.subscribed(new Listener("42"), at(0));
    expect(answerOf(fresh, { mode: "cache", since: at(0, "") })).toEqual(joinedAt(0));
    expect(fresh.port.calls).toEqual(["follow"]);
  });

  it("[R5] doesn't recover when the gateway can't catch up with it", () => {
    const channel = standing();
    const listener = new Listener("7");
    channel.join(listener, { mode: "cache", since: at(0, "") });
    channel.port.answer(read([9], at(9)));
    channel.port.answer({ outcome: "unrecoverable", position: at(9) });
    channel.port.answer(read([9], at(9)));
    expect(listener.answers).toEqual([joinedAt(5)]);
    expect(channel.port.open).toBe(0);
  });
});
