import { hashOf } from "../../contract/text-hash.ts";
import { metricsLimits } from "./limits.ts";

/**
 * The name of the object that collects what an object counts: one of `limits.metricsCollectors`. Counts that go to
 * different objects are added up when they are read, so this function may change.
 */
export function collectorOf(node: string): string {
  return collectorName(hashOf(node) % metricsLimits.metricsCollectors);
}

/** The name of a collecting object by its number. */
export function collectorName(number: number): string {
  return String(number);
}
