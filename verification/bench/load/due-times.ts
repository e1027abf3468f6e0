import { Random } from "../../../test/support/random.ts";

/**
 * When publications of many who know nothing of each other are due: ms from the beginning, at random as a Poisson process
 * has it, and the same for the same seed. At least one.
 */
export function dueTimesMs(perSecond: number, seconds: number, seed: number): number[] {
  const random = new Random(seed);
  const gapMs = (): number => (-Math.log(1 - random.next()) * 1000) / perSecond;
  const due = [gapMs()];
  for (let at = (due[0] ?? 0) + gapMs(); at < seconds * 1000; at += gapMs()) due.push(at);
  return due;
}
