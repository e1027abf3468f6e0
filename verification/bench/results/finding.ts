import type { Finding } from "../scenarios/scenario.ts";
import type { SystemName } from "../systems/wire.ts";

/** A finding of deliveries a second, with what a test says of it. */
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
