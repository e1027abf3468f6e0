import type { Finding } from "../scenarios/scenario.ts";
import type { SystemName } from "../systems/wire.ts";

/** A finding of deliveries a second, with the fields that a test sets. */
export function finding(
  system: SystemName,
  values: readonly number[],
  more: Partial<Finding> = {},
): Finding {
  return {
    measure: "deliveries a second",
    unit: "per second",
    better: "higher",
    system,
    point: "4 publishers",
    values,
    ...more,
  };
}
