import type { Random } from "../../support/random.ts";
import type { Action, Step } from "./actions.ts";
import type { PollMood } from "./poll-backend.ts";
import { pollModeOf } from "./poll-kinds.ts";

/** Puts actions on shared polls in the place of those that a shared poll doesn't have. */
export function withPollActions(
  random: Random,
  steps: readonly Step[],
  clients: number,
): readonly Step[] {
  const all: Step[] = [];
  for (const step of steps) {
    const action = pollAction(random, step);
    // Another value comes while the first one waits to be sent.
    if (action.do === "publish value" && random.chance(0.5))
      all.push({ ...action, ms: random.between(0, 12) });
    all.push({ ...action, ms: step.ms });
    // Somebody ceases to track the key while its value waits to be sent.
    if (action.do === "publish value" && random.chance(0.3)) {
      const { channel, key } = action;
      const client = random.between(0, clients - 1);
      all[all.length - 1] = { ...action, ms: random.between(0, 25) };
      all.push({ do: "untrack", client, channel, keys: [key], ms: step.ms });
    }
    // Who subscribes mostly tracks keys.
    if (step.do === "subscribe" && random.chance(0.8))
      all.push({ ...trackOf(random, step.client, step.channel), ms: random.between(0, 200) });
  }
  return all;
}

function pollAction(random: Random, action: Action): Action {
  if (!("channel" in action) || pollModeOf(action.channel) === undefined) return action;
  const { channel } = action;
  if (action.do === "publish" || action.do === "reuse key" || action.do === "publish version")
    return backendAction(random, channel);
  if (action.do === "publish own") {
    const { client } = action;
    return random.chance(0.7)
      ? trackOf(random, client, channel)
      : { do: "untrack", client, channel, keys: someKeys(random) };
  }
  if (action.do === "remove")
    return random.chance(0.5)
      ? { do: "begin epoch", channel }
      : { do: "remove value", channel, key: keyOf(random) };
  if (action.do !== "read") return action;
  const mood = random.pick<PollMood>(["fails", "hangs", "late", "late", "lies", "silent"]);
  return { do: "behave", channel, mood, forMs: random.between(500, 20_000) };
}

function backendAction(random: Random, channel: string): Action {
  const roll = random.between(0, 19);
  if (roll < 3) return { do: "remove value", channel, key: keyOf(random) };
  return { do: roll < 8 ? "publish value" : "set value", channel, key: keyOf(random) };
}

function trackOf(random: Random, client: number, channel: string): Action {
  const keys = someKeys(random);
  return random.chance(0.7)
    ? { do: "track", client, channel, keys }
    : { do: "track", client, channel, keys, seconds: random.between(1, 60) };
}

function someKeys(random: Random): readonly string[] {
  const keys = allKeys.filter(() => random.chance(0.5));
  return keys.length === 0 ? [keyOf(random)] : keys;
}

function keyOf(random: Random): string {
  return random.pick(allKeys);
}

/** Few, so that several clients track the same ones. */
export const allKeys: readonly string[] = ["k1", "k2", "k3", "k4", "k5"];
