import type { Random } from "../../support/random.ts";
import type { Action, Step } from "./actions.ts";
import { mapModeOf } from "./map-kinds.ts";

/** Sets all keys of a map, so that the first clients read several pages. */
export function filledMap(channel: string): readonly Step[] {
  return Array.from({ length: keysMax }, (_, index) => {
    return { do: "set", channel, key: `k${index + 1}`, keyed: false, ms: 2 } as const;
  });
}

/** Puts actions on maps in the place of those that a map doesn't have. */
export function withMapActions(random: Random, steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => ({ ...mapAction(random, step), ms: step.ms }));
}

function mapAction(random: Random, action: Action): Action {
  if (!("channel" in action) || mapModeOf(action.channel) === undefined) return action;
  const { channel } = action;
  const key = `k${random.between(1, keysMax)}`;
  if (action.do === "publish" || action.do === "reuse key")
    return backendAction(random, channel, key);
  if (action.do === "publish version")
    return { do: "set", channel, key, keyed: false, version: action.version };
  if (action.do === "publish own") {
    const { client } = action;
    return { do: random.chance(0.7) ? "set own" : "drop own", client, channel, key };
  }
  if (action.do === "remove") return { do: "clear", channel };
  if (action.do !== "read") return action;
  return random.chance(0.3)
    ? { do: "count keys", channel }
    : { do: "read state", channel, limit: action.limit };
}

function backendAction(random: Random, channel: string, key: string): Action {
  if (random.chance(0.05)) return { do: "clear", channel };
  // An ephemeral map forgets idempotency keys with its memory.
  const keyed = mapModeOf(channel) !== "ephemeral" && random.chance(0.5);
  const roll = random.between(0, 9);
  const expects = roll < 8 ? {} : ({ expects: roll < 9 ? "known" : "other" } as const);
  const change = { channel, key, keyed, ...expects };
  if (random.chance(0.3)) return { do: "drop", ...change };
  const modeRoll = random.between(0, 9);
  const mode = modeRoll < 7 ? {} : ({ mode: modeRoll < 9 ? "if_new" : "if_exists" } as const);
  const version = random.chance(0.15) ? { version: random.between(1, 5) } : {};
  return { do: "set", ...change, ...mode, ...version };
}

const keysMax = 6;
