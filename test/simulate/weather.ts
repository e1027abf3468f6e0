import type { CallName, Fate } from "./network.ts";
import type { Random } from "../support/random.ts";

/**
 * What becomes of calls when it is left to chance.
 *
 * @param trouble how many of the calls come to something else than they should, from 0 to 1
 */
export function weather(random: Random, trouble: number): (call: CallName) => Fate {
  return ({ kind }) => {
    const fair: Fate = { requestMs: random.between(1, 40), answerMs: random.between(1, 40) };
    if (!random.chance(trouble)) return fair;
    const lateMs = random.between(100, 25_000);
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
        return { ...fair, requestMs: lateMs };
      case 5:
        return { ...fair, answerMs: lateMs };
      default:
        // Only the relay's calls are said to stand it (rule L1); what a gateway asks the platform never asks twice.
        return kind === "deliver" ? { ...fair, againMs: lateMs } : { ...fair, requestMs: lateMs };
    }
  };
}
