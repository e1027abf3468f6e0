import { describe, expect, it } from "vitest";
import { complaintsOf } from "./complaints.ts";
import { followedWorld } from "./followed-world.ts";

describe("a channel whose clock was set back", () => {
  it("[L3] loses nothing, although its instances can't be ordered by their start times", () => {
    const { world, subscription, publish } = followedWorld("keep:a");
    const received = [publish(1_000)];
    const channel = world.channel("keep:a");
    // The object moves to another machine, whose clock is a minute slow.
    channel.skewMs = -60_000;
    for (let times = 0; times < 3; times++) {
      channel.evict();
      received.push(publish(1_000));
      expect(subscription.received).toEqual(received);
    }
    expect(subscription.losses).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });
});
