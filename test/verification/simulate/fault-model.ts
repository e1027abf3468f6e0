import type { Random } from "../../support/random.ts";
import { namedRandom } from "./named-random.ts";
import type { CallKind, CallOutcome, ChooseOutcome } from "./network.ts";

/**
 * Draws the outcome of each call at random, by the call's name, so that a run with a few calls less is like the run
 * with them.
 *
 * @param faultShare the share of calls with a fault, from 0 to 1
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
        // Only calls that their caller repeats must tolerate a repetition (rules L1 and U3). The platform never repeats a
        // gateway's request.
        return repeatable.has(kind)
          ? { ...faultless, againMs: lateMs }
          : { ...faultless, requestMs: lateMs };
    }
  };
}

const repeatable: ReadonlySet<CallKind> = new Set([
  "deliver",
  "polled",
  "count",
  "tell",
  "carry out",
  "register",
]);

/** How long a message takes without faults. */
function calmMs(random: Random): number {
  return random.chance(0.1) ? random.between(40, 400) : random.between(1, 40);
}
