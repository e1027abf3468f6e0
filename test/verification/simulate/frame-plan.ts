import { limits } from "../../../src/limits.ts";
import type { Random } from "../../support/random.ts";
import type { Step } from "./actions.ts";
import type { Plan } from "./plan.ts";

/** The commands of frames. */
export const frameLetters = {
  publish: "p",
  history: "h",
  presence: "s",
  /** Of a method that doesn't exist: its reply waits for nothing. */
  call: "c",
  /** A new token for the subscription. */
  token: "t",
} as const;

/**
 * A plan with one or two frames of more commands than one turn carries out.
 *
 * @param random a generator for this alone, so that the rest of the plan stays as it was
 */
export function withFrames(plan: Plan, random: Random): Plan {
  const first = plan.steps.findIndex(({ do: what }) => what !== "connect" && what !== "subscribe");
  let { steps } = plan;
  for (let left = random.between(1, 2); left > 0; left--) {
    const at = random.between(Math.max(first, 0), steps.length);
    const frame: Step = {
      do: "frame",
      client: random.between(0, plan.clients.length - 1),
      channel: random.pick(plan.channels),
      letters: lettersOf(random),
      ms: random.between(0, 60),
    };
    steps = steps.toSpliced(at, 0, frame);
  }
  return { ...plan, steps };
}

/** Few publications, so that what a client misses can still be recovered. */
function lettersOf(random: Random): string {
  const { publish, history, presence, call, token } = frameLetters;
  const calls = random.pick([0.3, 0.6, 1]);
  const others = [publish, history, presence, token, token];
  return Array.from({ length: random.between(limits.frameTurnCommands + 1, 200) }, () =>
    random.chance(calls) ? call : random.pick(others),
  ).join("");
}
