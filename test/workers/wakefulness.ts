import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { ChannelObject } from "../../workers/objects/channel-object.ts";

/** What happens to a channel's object between two steps of a test (rule S2): nothing must be seen of it from outside. */
export interface Wakefulness {
  readonly name: "awake" | "evicted";
  /** Between two steps. Fails when what should have become of the instance at the last call did not. */
  readonly pause: (channel: string) => Promise<void>;
}

/** For `describe.each`: the same test with an object that stays in memory, and with one that is thrown away all the time. */
export const wakefulness: readonly Wakefulness[] = [
  { name: "awake", pause: (channel) => checkInstance(channel, "same") },
  {
    name: "evicted",
    pause: async (channel) => {
      await checkInstance(channel, "another");
      await evictDurableObject(env.CHANNELS.getByName(channel), { webSockets: "hibernate" });
    },
  },
];

/** Instances by channel, as they were at the last look. */
const instances = new Map<string, ChannelObject>();

async function checkInstance(channel: string, expected: "same" | "another"): Promise<void> {
  await runInDurableObject(env.CHANNELS.getByName(channel), (instance: ChannelObject) => {
    const before = instances.get(channel);
    instances.set(channel, instance);
    if (before !== undefined) expect(before === instance).toBe(expected === "same");
  });
}
