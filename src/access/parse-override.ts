import { isJsonObject, type JsonValue } from "../protocol/json-value.ts";
import type { SubscriptionOverride } from "./claims.ts";

/**
 * Reads an `override`: an object of `{"value": boolean}` (reference 5.1).
 *
 * @param given undefined and null for none
 * @returns undefined when it isn't one
 */
export function parseOverride(given: JsonValue | undefined): SubscriptionOverride | undefined {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) return undefined;
  const override: { -readonly [Key in keyof SubscriptionOverride]: SubscriptionOverride[Key] } = {};
  for (const [name, key] of overrideNames) {
    const option = given[name];
    if (option === undefined || option === null) continue;
    const flag = isJsonObject(option) ? option["value"] : undefined;
    if (typeof flag !== "boolean") return undefined;
    override[key] = flag;
  }
  return override;
}

const overrideNames = [
  ["presence", "presence"],
  ["join_leave", "joinLeave"],
  ["force_push_join_leave", "forcePushJoinLeave"],
  ["force_positioning", "forcePositioning"],
  ["force_recovery", "forceRecovery"],
] as const satisfies readonly (readonly [string, keyof SubscriptionOverride])[];
