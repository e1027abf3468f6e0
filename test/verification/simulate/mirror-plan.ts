import type { Random } from "../../support/random.ts";
import type { Action } from "./actions.ts";

/** A backend reads a map that it can't change. */
export function mirrorRead(random: Random, channel: string): Action {
  return random.chance(0.3)
    ? { do: "count keys", channel }
    : { do: "read state", channel, limit: random.pick([-1, 0, 1, 3]) };
}

/** Whether something is published. */
export function publishes(action: Action): boolean {
  return publishing.has(action.do);
}

const publishing: ReadonlySet<Action["do"]> = new Set([
  "publish",
  "reuse key",
  "publish version",
  "publish own",
]);
