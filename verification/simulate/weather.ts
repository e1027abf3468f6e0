import type { Random } from "../../test/support/random.ts";
import { namedRandom } from "./named-random.ts";
import type { Fate, FateOf } from "./network.ts";

/**
 * What becomes of calls when it is left to chance: of each by its name, so that a run with some calls less is like the one
 * with them.
 *
 * @param trouble how many of the calls come to something else than they should, from 0 to 1
 */
export function weather(seed: number, trouble: number): FateOf {
  return ({ kind }, name) => {
    const random = namedRandom(seed, name);
    const calm: Fate = { requestMs: calmMs(random), answerMs: calmMs(random) };
    if (!random.chance(trouble)) return calm;
    const lateMs = random.chance(0.5) ? random.between(50, 2_000) : random.between(2_000, 25_000);
    switch (random.between(0, 6)) {
      case 0:
        return { errorMs: random.between(1, 500) };
      case 1:
        return {};
      case 2:
        return { requestMs: random.between(1, 40), errorMs: random.between(50, 500) };
      case 3:
        return { requestMs: random.between(1, 40) };
      case 4:
        return { ...calm, requestMs: lateMs };
      case 5:
        return { ...calm, answerMs: lateMs };
      default:
        // Only the relay's calls are said to stand it (rule L1); what a gateway asks the platform never asks twice.
        return kind === "deliver" ? { ...calm, againMs: lateMs } : { ...calm, requestMs: lateMs };
    }
  };
}

/** How long a message takes while all is well. */
function calmMs(random: Random): number {
  return random.chance(0.1) ? random.between(40, 400) : random.between(1, 40);
}
