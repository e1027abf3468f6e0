import { onTestFinished } from "vitest";

/**
 * Has the product wait less until the running test has ended: for an object that doesn't answer, or until it tries again.
 *
 * @param limits the bounds of a folder of `src`, some of which are times
 */
export function waitLess<Limits extends object>(
  limits: Limits,
  waits: Partial<Record<keyof Limits, number>>,
): void {
  const before = { ...limits };
  Object.assign(limits, waits);
  onTestFinished(() => void Object.assign(limits, before));
}
