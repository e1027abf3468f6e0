import { Random } from "../../test/support/random.ts";

/**
 * The due times of publications by many independent publishers: ms from the beginning, a Poisson process, the same for
 * the same seed. At least one.
 */
export function dueTimesMs(perSecond: number, seconds: number, seed: number): number[] {
  const random = new Random(seed);
  const gapMs = (): number => (-Math.log(1 - random.next()) * 1000) / perSecond;
  const due = [gapMs()];
  for (let at = (due[0] ?? 0) + gapMs(); at < seconds * 1000; at += gapMs()) due.push(at);
  return due;
}
