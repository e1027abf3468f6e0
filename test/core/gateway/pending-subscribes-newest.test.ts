import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { at, FollowedChannel, following, read } from "./support/followed-channel.ts";
import {
  replyTo,
  freshAt,
  subscribing,
  recoveredAt,
  subscribedAtFive,
} from "./support/subscribing-client.ts";
import { RecordingSubscription } from "./support/recording-subscription.ts";

describe("a subscribe with cache recovery", () => {
  it("[L6] gets it, read once for all", () => {
    const channel = subscribedAtFive();
    const subscribers = Array.from({ length: 20 }, () => new RecordingSubscription("7"));
    for (const subscriber of subscribers)
      channel.subscribe(subscriber, { mode: "cache", since: at(0, "") });
    channel.port.answer(read([5], at(5)));
    for (const { answers } of subscribers) expect(answers).toEqual([recoveredAt(5, 5)]);
    channel.takeStream(1, [6]);
    expect(replyTo(channel, { mode: "cache", since: at(2, "f") })).toEqual(recoveredAt(6, 6));
    expect(replyTo(channel, { mode: "cache", since: at(6) })).toEqual(recoveredAt(6));
    expect(channel.port.calls).toEqual(["follow", "newest"]);
  });

  it("[L6] gets it in the call that follows the channel", () => {
    const { channel, subscriber } = subscribing({ mode: "cache", since: at(0, "") });
    expect(channel.port.calls).toEqual(["follow newest"]);
    channel.port.answer(following(at(5)), read([5], at(5)));
    expect(subscriber.answers).toEqual([recoveredAt(5, 5)]);
  });

  it("[L6] gets it in that call also when it was in another epoch", () => {
    const { channel, subscriber } = subscribing({ mode: "cache", since: at(9, "f") });
    channel.port.answer(following(at(5)), read([5], at(5)));
    expect(subscriber.answers).toEqual([recoveredAt(5, 5)]);
  });

  it("[ED11] gets nothing from memory where publications are amended", () => {
    const channel = new FollowedChannel({}, true);
    channel.subscribed(new RecordingSubscription("42"), at(5));
    const first = new RecordingSubscription("7");
    const second = new RecordingSubscription("8");
    channel.subscribe(first, { mode: "cache", since: at(0, "") });
    channel.takeStream(1, [6]);
    channel.subscribe(second, { mode: "cache", since: at(0, "") });
    channel.port.answer(read([6], at(6)));
    expect(first.answers).toEqual([recoveredAt(6, 6)]);
    expect(second.answers).toEqual([]);
    channel.port.answer(read([6], at(6)));
    expect(second.answers).toEqual([recoveredAt(6, 6)]);
  });

  it("[O3] gets the newest one that came while it was read", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { mode: "cache", since: at(0, "") });
    channel.takeStream(1, [6, 7]);
    channel.port.answer(read([6], at(6)));
    expect(subscriber.answers).toEqual([recoveredAt(7, 7)]);
  });

  it("[O3] gets it though the gateway is behind, and not a second time", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { mode: "cache", since: at(0, "") });
    channel.port.answer(read([7], at(7)));
    channel.port.answer(read([6, 7], at(7)));
    channel.takeStream(1, [6, 7, 8]);
    expect(subscriber.answers).toEqual([recoveredAt(7, 7)]);
    expect(subscriber.received).toEqual(["8"]);
  });

  it("[O3] makes the gateway catch up when it has been further, on another one", () => {
    const channel = subscribedAtFive();
    channel.subscribe(new RecordingSubscription("8"), { mode: "cache", since: at(0, "") });
    channel.port.answer(read([5], at(5)));
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { mode: "cache", since: at(7) });
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(5), whole: true }]);
    channel.port.answer(read([6, 7], at(7)));
    expect(subscriber.answers).toEqual([recoveredAt(7)]);
    channel.takeStream(1, [6, 7, 8]);
    expect(subscriber.received).toEqual(["8"]);
  });

  it.each(["taken", "lost"])(
    "[L3] [R2] waits for a gateway that can't catch up, while the batch on its way is %s",
    (batch) => {
      const channel = subscribedAtFive();
      const subscriber = new RecordingSubscription("7");
      channel.subscribe(subscriber, { mode: "cache", since: at(9) });
      expect(channel.port.requests).toEqual([{ method: "recover", since: at(5), whole: true }]);
      // 6 is gone from the history already, and is on its way to the gateway.
      channel.port.answer({ outcome: "unrecoverable", position: at(9) });
      expect(subscriber.answers).toEqual([]);
      expect(channel.port.open).toBe(0);
      if (batch === "taken") channel.takeStream(1, [6, 7, 8, 9]);
      else {
        // The alarm of another instance tells the top, and what was missed can't be read.
        channel.take(1, [], { top: at(9), instance: 2 });
        channel.port.answer({ outcome: "unrecoverable", position: at(9) });
        channel.port.answer(following(at(9)), read([9], at(9)));
      }
      expect(subscriber.answers).toMatchObject([{ outcome: "subscribed", position: at(9) }]);
    },
  );

  it("[L3] has its gateway begin anew if no batch comes", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { mode: "cache", since: at(9) });
    channel.port.answer({ outcome: "unrecoverable", position: at(9) });
    const { follower } = channel;
    expect(follower.unsettled).toBe(true);
    expect(follower.settle(5_000)).toBe(limits.aheadWaitMs);
    expect(follower.settle(5_400)).toBe(limits.aheadWaitMs - 400);
    expect(channel.port.open).toBe(0);
    follower.settle(5_000 + limits.aheadWaitMs);
    channel.port.answer(following(at(9)), read([9], at(9)));
    expect(subscriber.answers).toMatchObject([{ outcome: "subscribed", position: at(9) }]);
    expect(follower.unsettled).toBe(false);
  });

  it("[R5] doesn't recover when there is none, or none any more", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { mode: "cache", since: at(0, "") });
    channel.port.answer({ outcome: "unrecoverable", position: at(5) });
    expect(subscriber.answers).toEqual([freshAt(5)]);
    const fresh = new FollowedChannel();
    fresh.subscribed(new RecordingSubscription("42"), at(0));
    expect(replyTo(fresh, { mode: "cache", since: at(0, "") })).toEqual(freshAt(0));
    expect(fresh.port.calls).toEqual(["follow"]);
  });

  it("[R5] doesn't recover when the gateway can't catch up with it", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { mode: "cache", since: at(0, "") });
    channel.port.answer(read([9], at(9)));
    channel.port.answer({ outcome: "unrecoverable", position: at(9) });
    channel.port.answer(read([9], at(9)));
    expect(subscriber.answers).toEqual([freshAt(5)]);
    expect(channel.port.open).toBe(0);
  });
});
