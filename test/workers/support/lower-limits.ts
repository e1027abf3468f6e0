import { onTestFinished } from "vitest";

/**
 * Lowers bounds of the product until the running test has ended: how long it waits for an object that doesn't answer or
 * until it tries again, or how much there may be of something.
 *
 * @param limits the bounds of a folder of `src`
 */
export function lowerLimits<Limits extends object>(
  limits: Limits,
  lower: Partial<Record<keyof Limits, number>>,
): void {
  const before = { ...limits };
  Object.assign(limits, lower);
  onTestFinished(() => void Object.assign(limits, before));
}
