import type { Random } from "../../support/random.ts";
import { growthKindOf } from "./growth-kinds.ts";
import type { Action, Step } from "./actions.ts";
import type { PieceTraits } from "./growth-backend.ts";

/** Puts producers in the place of publishers, and faults right after some pieces. */
export function withGrowthActions(
  random: Random,
  steps: readonly Step[],
  objects: readonly string[],
): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    const action = growthAction(random, step);
    const isAppend = action.do === "append" || action.do === "append blind";
    if (!isAppend || !random.chance(0.3)) return [{ ...action, ms: step.ms }];
    // What follows comes within a window of what was appended.
    const ms = random.between(10, random.pick([60, 300, 1_500]));
    return [
      { ...action, ms },
      { ...faultWithin(random, action.channel, objects), ms: step.ms },
    ];
  });
}

function growthAction(random: Random, action: Action): Action {
  if (!("channel" in action) || growthKindOf(action.channel) === undefined) return action;
  const { channel } = action;
  const key = random.pick(growthKeys);
  if (action.do === "publish" && random.chance(0.2))
    return { do: "append blind", channel, keyed: action.keyed };
  if (action.do === "publish" || action.do === "reuse key" || action.do === "publish version")
    return { do: "append", channel, key, ...traitsOf(random) };
  if (action.do === "publish own") {
    const { client } = action;
    return random.chance(0.5)
      ? { do: "append own", client, channel, key }
      : { do: "append", channel, key, ...traitsOf(random) };
  }
  if (action.do === "remove") return { do: "forget texts", channel };
  if (action.do !== "read") return action;
  return { do: random.pick(["begin text", "remove text", "read text"] as const), channel, key };
}

function faultWithin(random: Random, channel: string, objects: readonly string[]): Action {
  const roll = random.between(0, 9);
  if (roll < 3) return { do: "crash", object: channel };
  if (roll < 5) return { do: "crash at commit", object: channel };
  const object = random.pick(objects);
  if (roll < 7) return { do: "evict", object };
  return roll < 9 ? { do: "crash", object } : { do: "close", object };
}

function traitsOf(random: Random): PieceTraits {
  return {
    pieces: random.chance(0.4) ? 1 : random.between(2, 12),
    blocks: random.chance(0.8) ? 1 : random.between(2, 8),
    ...(random.chance(0.08) ? { final: true } : {}),
    ...(random.chance(0.1) ? { keyed: true } : {}),
    ...(random.chance(0.15) ? { repeats: true } : {}),
  };
}

/** Few, so that several pieces concern the same key. */
const growthKeys: readonly string[] = ["k1", "k2", "k3"];
