import type { Random } from "../../test/support/random.ts";
import { namedRandom } from "./named-random.ts";
import type { CallOutcome, ChooseOutcome } from "./network.ts";

/**
 * What becomes of calls when it is left to chance: of each by its name, so that a run with some calls less is like the one
 * with them.
 *
 * @param faultShare how many of the calls come to something else than they should, from 0 to 1
 */
export function faultModel(seed: number, faultShare: number): ChooseOutcome {
  return ({ kind }, name) => {
    const random = namedRandom(seed, name);
    const faultless: CallOutcome = { requestMs: calmMs(random), answerMs: calmMs(random) };
    if (!random.chance(faultShare)) return faultless;
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
        return { ...faultless, requestMs: lateMs };
      case 5:
        return { ...faultless, answerMs: lateMs };
      default:
        // Only the relay's calls are said to stand it (rule L1); what a gateway asks the platform never asks twice.
        return kind === "deliver"
          ? { ...faultless, againMs: lateMs }
          : { ...faultless, requestMs: lateMs };
    }
  };
}

/** How long a message takes while all is well. */
function calmMs(random: Random): number {
  return random.chance(0.1) ? random.between(40, 400) : random.between(1, 40);
}
