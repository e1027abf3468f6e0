import { describe, expect, it } from "vitest";
import { at, type FollowedChannel, read, subscribed } from "./followed-channel.ts";
import type { Listener } from "./recording-subscription.ts";

describe("a publisher who subscribes to the channel", () => {
  it("[O4] answers a publisher once its publication is with the subscribers", () => {
    const { channel, listener } = subscribed(at(5));
    const told: string[] = [];
    listener.onHeard = (what) => told.push(what);
    const answer = (): number => told.push("published");
    wait(channel, listener, 2, answer);
    channel.takeStream(1, [6]);
    expect(told).toEqual(["6"]);
    channel.takeStream(2, [7]);
    expect(told.toSorted()).toEqual(["6", "7", "published"]);
    wait(channel, listener, 2, answer);
    expect(told).toHaveLength(4);
  });

  it("[O4] waits for a publication that must be read first", () => {
    const { channel, listener } = subscribed(at(5));
    let published = false;
    wait(channel, listener, 2, () => (published = true));
    channel.takeStream(2, [7]);
    expect(published).toBe(false);
    channel.port.answer(read([6, 7], at(7)));
    expect(published).toBe(true);
  });

  it("[O4] waits no longer once a newer instance was heard, or the publisher left or was told", () => {
    const told: string[] = [];
    const first = subscribed(at(5));
    wait(first.channel, first.listener, 2, () => told.push("newer"));
    first.channel.take(1, [], { instance: 2, top: at(5) });
    const second = subscribed(at(5));
    wait(second.channel, second.listener, 2, () => told.push("left"));
    second.channel.follower.unsubscribe(second.listener.subscription);
    const third = subscribed(at(5));
    wait(third.channel, third.listener, 2, () => told.push("lost"));
    third.channel.takeStream(1, [1], { instance: 2, top: at(1, "f") });
    wait(third.channel, third.listener, 2, () => told.push("nobody"));
    expect(told).toEqual(["newer", "left", "lost", "nobody"]);
  });

  it("[B4] answers a publisher after some time even when its publication doesn't come", () => {
    const { channel, listener } = subscribed(at(5));
    let published = false;
    wait(channel, listener, 2, () => (published = true));
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
  { subscription }: Listener,
  sequence: number,
  answer: () => void,
): void {
  const dueAtMs = channel.nowMs + 10_000;
  channel.follower.awaitPublication({ subscription, instance: 1, sequence, dueAtMs, done: answer });
}
