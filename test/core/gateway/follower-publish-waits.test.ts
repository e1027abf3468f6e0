import { describe, expect, it } from "vitest";
import { at, type FollowedChannel, read, subscribed } from "./support/followed-channel.ts";
import type { RecordingSubscription } from "./support/recording-subscription.ts";

describe("a publisher that is subscribed to the channel", () => {
  it("[O4] answers a publisher once its publication is with the subscribers", () => {
    const { channel, subscriber } = subscribed(at(5));
    const outcomes: string[] = [];
    subscriber.onReceived = (what) => outcomes.push(what);
    const answer = (): number => outcomes.push("published");
    wait(channel, subscriber, 2, answer);
    channel.takeStream(1, [6]);
    expect(outcomes).toEqual(["6"]);
    channel.takeStream(2, [7]);
    expect(outcomes.toSorted()).toEqual(["6", "7", "published"]);
    wait(channel, subscriber, 2, answer);
    expect(outcomes).toHaveLength(4);
  });

  it("[O4] waits for a publication that must be read first", () => {
    const { channel, subscriber } = subscribed(at(5));
    let published = false;
    wait(channel, subscriber, 2, () => (published = true));
    channel.takeStream(2, [7]);
    expect(published).toBe(false);
    channel.port.answer(read([6, 7], at(7)));
    expect(published).toBe(true);
  });

  it("[O4] doesn't wait for a publish that changed nothing on an instance without entries", () => {
    const { channel, subscriber } = subscribed(at(5));
    let published = false;
    const dueAtMs = channel.nowMs + 10_000;
    const { subscription } = subscriber;
    const done = () => (published = true);
    channel.follower.awaitPublication({ subscription, instance: 2, sequence: 0, dueAtMs, done });
    expect(published).toBe(true);
  });

  it("[O4] waits no longer once a newer instance appears, or the publisher leaves or gets a signal", () => {
    const outcomes: string[] = [];
    const first = subscribed(at(5));
    wait(first.channel, first.subscriber, 2, () => outcomes.push("newer"));
    first.channel.take(1, [], { instance: 2, top: at(5) });
    const second = subscribed(at(5));
    wait(second.channel, second.subscriber, 2, () => outcomes.push("left"));
    second.channel.follower.unsubscribe(second.subscriber.subscription);
    const third = subscribed(at(5));
    wait(third.channel, third.subscriber, 2, () => outcomes.push("lost"));
    third.channel.takeStream(1, [1], { instance: 2, top: at(1, "f") });
    wait(third.channel, third.subscriber, 2, () => outcomes.push("nobody"));
    expect(outcomes).toEqual(["newer", "left", "lost", "nobody"]);
  });

  it("[B4] answers a publisher after some time even when its publication doesn't come", () => {
    const { channel, subscriber } = subscribed(at(5));
    let published = false;
    wait(channel, subscriber, 2, () => (published = true));
    channel.settle();
    expect(channel.settleInMs).toBe(10_000);
    channel.nowMs += 9_999;
    channel.settle();
    expect(published).toBe(false);
    channel.nowMs += 1;
    channel.settle();
    expect(published).toBe(true);
    expect(channel.follower.unsettled).toBe(false);
  });
});

function wait(
  channel: FollowedChannel,
  { subscription }: RecordingSubscription,
  sequence: number,
  answer: () => void,
): void {
  const dueAtMs = channel.nowMs + 10_000;
  channel.follower.awaitPublication({ subscription, instance: 1, sequence, dueAtMs, done: answer });
}
