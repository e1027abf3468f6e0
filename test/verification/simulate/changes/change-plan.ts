import type { Random } from "../../../support/random.ts";
import type { Action, Step } from "../actions.ts";
import { isChanging } from "./change-kinds.ts";

/** Puts edits, deletions and erasures in the place of other publishes, and faults right after some of them. */
export function withChangeActions(
  random: Random,
  steps: readonly Step[],
  objects: readonly string[],
): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    const action = changeAction(random, step);
    if (action.do === "say" && random.chance(0.4)) {
      const changed = random.pick(["edit", "delete", "erase", "erase"] as const);
      // While it is on its way to gateways, if that takes longer than usual.
      return [
        { ...action, ms: random.between(20, 400) },
        { do: changed, channel: action.channel, index: newest, ms: step.ms },
      ];
    }
    if (action === step || !("channel" in action) || !random.chance(0.25))
      return [{ ...action, ms: step.ms }];
    const object = random.chance(0.5) ? action.channel : random.pick(objects);
    const fault = random.pick(["evict", "crash", "close", "crash at commit"] as const);
    // On its way, while it is carried out, or while it is answered.
    return [
      { ...action, ms: random.between(1, 60) },
      { do: fault, object, ms: step.ms },
    ];
  });
}

function changeAction(random: Random, action: Action): Action {
  if (!("channel" in action) || !isChanging(action.channel)) return action;
  const { channel } = action;
  const what = action.do;
  if (what === "publish own") return { do: "say", channel, user: random.pick(users) };
  if (what === "publish version") return { do: "erase", channel, index: random.between(0, 99) };
  if (what === "remove") return { do: "erase user", channel, user: random.pick(users) };
  if (what === "read") return { do: "read said", channel };
  if (what !== "publish" && what !== "reuse key") return action;
  const roll = random.between(0, 9);
  if (roll < 4) return { do: "say", channel, user: random.chance(0.5) ? "" : random.pick(users) };
  const index = random.between(0, 99);
  if (roll < 7) return { do: "edit", channel, index };
  return roll < 9 ? { do: "delete", channel, index } : { do: "erase", channel, index };
}

/** The index of the newest publication. */
const newest = -1;

/** Few, so that several publications are of the same one. */
const users: readonly string[] = ["u1", "u2"];
