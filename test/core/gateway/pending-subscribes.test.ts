import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { RelayReply } from "../../../src/contract/relay-request.ts";
import { json } from "../api/channel-config.ts";
import {
  at,
  entry,
  FollowedChannel,
  following,
  publication,
  read,
} from "./support/followed-channel.ts";
import {
  replyTo,
  freshAt,
  subscribing,
  recoveredAt,
  subscribedAtFive,
} from "./support/subscribing-client.ts";
import { RecordingSubscription } from "./support/recording-subscription.ts";

describe("the first subscribe", () => {
  it("[L6] asks once to follow, however many come meanwhile", () => {
    const channel = new FollowedChannel();
    const subscribers = Array.from(
      { length: 50 },
      (_, index) => new RecordingSubscription(`user${index}`),
    );
    for (const subscriber of subscribers) channel.subscribe(subscriber);
    expect(channel.port.calls).toEqual(["follow"]);
    channel.port.answer(following(at(5)));
    for (const { answers } of subscribers) expect(answers).toEqual([freshAt(5)]);
    channel.subscribe(new RecordingSubscription("late"));
    expect(channel.port.calls).toEqual(["follow"]);
  });

  it("[R2] gets the entries between the two answers, and the publications before them, once", () => {
    const { channel, subscriber } = subscribing({ since: at(3) });
    channel.takeStream(1, [4, 5, 6, 7]);
    channel.port.answer(following(at(5), 2), read([4, 5, 6], at(6)));
    channel.takeStream(3, [6, 7, 8]);
    expect(subscriber.answers).toEqual([recoveredAt(7, 4, 5, 6, 7)]);
    expect(subscriber.received).toEqual(["8"]);
  });

  it.each([
    ["100 when nobody knows", (channel: FollowedChannel) => fail(channel), 100],
    ["111 when the object is overloaded", (channel: FollowedChannel) => channel.refuse(), 111],
  ])("[B4] is answered %s", (_, failing, code) => {
    const { channel, subscriber } = subscribing();
    failing(channel);
    expect(subscriber.answers).toMatchObject([
      { outcome: "failed", error: { code, temporary: true } },
    ]);
    expect(channel.follower.idle).toBe(true);
  });

  it("[R1] doesn't delay others by a read for another epoch", () => {
    const { channel, subscriber } = subscribing({ since: at(3, "f") });
    const another = new RecordingSubscription("8");
    channel.subscribe(another, { since: at(3) });
    channel.port.answer(following(at(5)), { outcome: "unrecoverable", position: at(5) });
    channel.port.answer(read([4, 5], at(5)));
    expect(subscriber.answers).toEqual([freshAt(5)]);
    expect(another.answers).toEqual([recoveredAt(5, 4, 5)]);
  });

  it("[G5] isn't answered when it left while another was", () => {
    const { channel } = subscribing();
    const [second, third] = [new RecordingSubscription("8"), new RecordingSubscription("9")];
    channel.follower.subscribe(second.subscription, unpositioned, channel.nowMs, () => {
      channel.follower.unsubscribe(third.subscription);
    });
    channel.subscribe(third);
    channel.port.answer(following(at(5)));
    expect(third.answers).toEqual([]);
    channel.takeStream(1, [6]);
    expect([second.received, third.received]).toEqual([["6"], []]);
  });

  it("[W1] keeps no position on a channel without history, whatever it asks for", () => {
    const { channel, subscriber } = subscribing({ since: at(3), orFail: true });
    const error = { code: 108, message: "not available", temporary: false };
    channel.port.answer(following(), { outcome: "failed", error });
    expect(subscriber.answers).toEqual([
      { outcome: "subscribed", recovered: false, publications: [] },
    ]);
  });
});

describe("a subscribe to a followed channel", () => {
  it("[W1] gets no position if it asks for none", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { positioned: false });
    expect(subscriber.answers).toEqual([
      { outcome: "subscribed", recovered: false, publications: [] },
    ]);
  });

  it("[R5] is refused with 112 when it wants to be rather than not recover", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3, "f"), orFail: true });
    expect(subscriber.answers).toMatchObject([{ outcome: "failed", error: { code: 112 } }]);
    channel.takeStream(1, [6]);
    expect(subscriber.received).toEqual([]);
  });

  it("[L6] reads the history once for each position, and not again for some time", () => {
    const channel = subscribedAtFive();
    const threes = Array.from({ length: 20 }, () => new RecordingSubscription("7"));
    const fours = Array.from({ length: 20 }, () => new RecordingSubscription("8"));
    for (const subscriber of threes) channel.subscribe(subscriber, { since: at(3) });
    for (const subscriber of fours) channel.subscribe(subscriber, { since: at(4, "") });
    channel.port.answer(read([4, 5], at(5)));
    channel.port.answer(read([5], at(5)));
    for (const { answers } of threes) expect(answers).toEqual([recoveredAt(5, 4, 5)]);
    for (const { answers } of fours) expect(answers).toEqual([recoveredAt(5, 5)]);
    channel.takeStream(1, [6]);
    channel.nowMs += limits.replayBufferMs - 1;
    expect(replyTo(channel, { since: at(3) })).toEqual(recoveredAt(6, 4, 5, 6));
    expect(channel.port.calls).toEqual(["follow", "recover", "recover"]);
    channel.nowMs += 1;
    channel.subscribe(new RecordingSubscription("9"), { since: at(3) });
    expect(channel.port.open).toBe(1);
  });

  it("[ED11] reads for each who asks later, where publications are amended, and takes what was read for what came", () => {
    const channel = new FollowedChannel({}, true);
    channel.subscribed(new RecordingSubscription("42"), at(5));
    const first = new RecordingSubscription("7");
    const second = new RecordingSubscription("8");
    const third = new RecordingSubscription("9");
    channel.subscribe(first, { since: at(3) });
    channel.subscribe(second, { since: at(3) });
    channel.takeStream(1, [6]);
    channel.port.answer(read([4, 5], at(5)));
    expect(first.answers).toEqual([recoveredAt(6, 4, 5, 6)]);
    expect(second.answers).toEqual([]);
    const amended = { ...publication(6), data: json("null") };
    const publications = [publication(4), publication(5), amended];
    channel.port.answer({ outcome: "recovered", publications, position: at(6) });
    expect(second.answers).toMatchObject([{ recovered: true, publications }]);
    channel.subscribe(third, { since: at(3) });
    expect(channel.port.open).toBe(1);
    channel.port.answer({ outcome: "recovered", publications, position: at(6) });
    expect(third.answers).toMatchObject([{ publications }]);
  });

  it("[R2] gets the publications that came during a long read", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.takeStream(1, [6]);
    channel.nowMs += 2 * limits.replayBufferMs;
    channel.subscribe(new RecordingSubscription("8"), { since: at(2) });
    channel.port.answer(read([4, 5], at(5)));
    expect(subscriber.answers).toEqual([recoveredAt(6, 4, 5, 6)]);
  });

  it("[R4] doesn't recover as many publications as the limit, read or held", () => {
    const channel = subscribedAtFive({ recovery_max_publication_limit: 3 });
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.takeStream(1, [6]);
    channel.port.answer(read([4, 5], at(5)));
    expect(subscriber.answers).toEqual([freshAt(6)]);
    expect(replyTo(channel, { since: at(3) })).toEqual(freshAt(6));
    expect(replyTo(channel, { since: at(4) })).toEqual(recoveredAt(6, 5, 6));
  });

  it("[R4] doesn't recover more than its queue holds", () => {
    const channel = subscribedAtFive({ queue_max_size: 65_536 });
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(4) });
    const data = json(`"${"x".repeat(65_536 - limits.answerRestBytes)}"`);
    channel.port.answer({
      outcome: "recovered",
      publications: [{ data, offset: 5 }],
      position: at(5),
    });
    expect(subscriber.answers).toEqual([freshAt(5)]);
  });

  it.each<readonly [string, RelayReply]>([
    ["what it missed is gone", { outcome: "unrecoverable", position: at(5) }],
    ["what was read has a hole", read([5], at(5))],
    ["what was read is of another stream", read([4, 5], at(5, "f"))],
  ])("[R5] doesn't recover when %s", (_, answer) => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.port.answer(answer);
    expect(subscriber.answers).toEqual([freshAt(5)]);
  });

  it("[H10] gets nothing from memory once the history was removed", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.port.answer(read([4, 5], at(5)));
    channel.take(1, [{ type: "removed" }, entry(6)], { top: at(6) });
    const another = new RecordingSubscription("8");
    channel.subscribe(another, { since: at(3) });
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(3) }]);
  });

  it("[H10] gets nothing from memory if a removal may be among the missed entries", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.port.answer(read([4, 5], at(5)));
    channel.takeStream(2, [6]);
    channel.subscribe(new RecordingSubscription("8"), { since: at(3) });
    expect(channel.port.open).toBe(1);
  });

  it("[R2] recovers across a removal that comes while it is read", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.take(1, [{ type: "removed" }, entry(6)], { top: at(6) });
    channel.port.answer(read([4, 5], at(5)));
    expect(subscriber.answers).toEqual([recoveredAt(6, 4, 5, 6)]);
  });

  it("[R3] makes the gateway catch up if the client is ahead, and gets the same signal as all others", () => {
    const channel = subscribedAtFive();
    const present = new RecordingSubscription("8");
    channel.subscribe(present);
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(7) });
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(5), whole: true }]);
    channel.port.answer(read([6, 7, 8], at(8)));
    channel.settle();
    expect(subscriber.answers).toEqual([recoveredAt(8, 8)]);
    channel.takeStream(1, [6, 7, 8, 9]);
    expect(present.received).toEqual(["6", "7", "8", "9"]);
    expect(subscriber.received).toEqual(["9"]);
  });

  it("[L3] waits while the gateway reads its own missed publications", () => {
    const channel = subscribedAtFive();
    channel.takeStream(2, [7]);
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(7) });
    channel.port.answer(read([6, 7], at(7)));
    expect(subscriber.answers).toEqual([recoveredAt(7)]);
  });

  it("[R2] waits until the gateway, page by page, is where it has been itself", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(9) });
    for (const [pages, since] of [6, 8].entries()) {
      expect(channel.port.requests).toEqual([
        { method: "recover", since: at(since - 1), whole: true },
      ]);
      expect([pages, subscriber.answers]).toEqual([pages, []]);
      channel.port.answer(read([since, since + 1], at(9)));
    }
    expect(subscriber.answers).toEqual([recoveredAt(9)]);
    expect(channel.port.open).toBe(0);
  });

  it("[G5] isn't failed by an error that was for a stream that is lost meanwhile", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    const another = new RecordingSubscription("8");
    channel.subscribe(subscriber, { since: at(1) });
    channel.subscribe(another, { since: at(2) });
    channel.takeStream(1, [1], { instance: 2, top: at(1, "f") });
    const { tooManyRequests: error } = errorCodes;
    channel.port.answer({ outcome: "failed", error });
    expect(channel.port.calls.at(-1)).toBe("recover follow recover");
    const follows = following(at(1, "f"), 1, 2);
    channel.port.answer({ outcome: "failed", error }, follows, read([], at(1, "f")));
    const joined = { ...freshAt(1), position: at(1, "f") };
    expect([subscriber.answers, another.answers]).toEqual([[joined], [joined]]);
  });

  it("[R1] gets nothing from memory that is of another stream", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.port.answer(read([4, 5], at(5)));
    channel.takeStream(1, [1], { instance: 2, top: at(1, "f") });
    channel.subscribed(new RecordingSubscription("8"), at(5, "f"));
    channel.subscribe(new RecordingSubscription("9"), { since: at(3, "f") });
    expect(channel.port.requests).toEqual([{ method: "recover", since: at(3, "f") }]);
  });

  it("[L6] gets the first publication from memory as it is in the history", () => {
    const channel = new FollowedChannel();
    channel.subscribed(new RecordingSubscription("42"), at(0));
    channel.subscribe(new RecordingSubscription("7"), { since: at(3) });
    const first = { type: "publication", publication: { ...publication(1), epoch: "e" } } as const;
    channel.take(1, [first], { top: at(1) });
    channel.port.answer(read([1, 2], at(2)));
    expect(replyTo(channel, { since: at(0) })).toEqual(recoveredAt(2, 1, 2));
  });

  it("[G5] begins anew when the stream is lost while it is read for", () => {
    const channel = subscribedAtFive();
    const subscriber = new RecordingSubscription("7");
    channel.subscribe(subscriber, { since: at(3) });
    channel.takeStream(1, [1], { instance: 2, top: at(1, "f") });
    channel.port.answer(read([4, 5], at(5)));
    expect(channel.port.calls).toEqual(["follow", "recover", "follow recover"]);
    expect(subscriber.answers).toEqual([]);
    channel.port.answer(following(at(1, "f"), 1, 2), {
      outcome: "unrecoverable",
      position: at(1, "f"),
    });
    expect(subscriber.answers).toEqual([{ ...freshAt(1), position: at(1, "f") }]);
  });
});

const unpositioned = { positioned: false, mode: "stream", orFail: false } as const;

/** The open call fails, and its repetition, too. */
function fail(channel: FollowedChannel): void {
  channel.port.fail();
  channel.port.fail();
}
