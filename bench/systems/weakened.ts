import type { Change } from "../../test/verification/weakened/changed-copy.ts";
import type { WeakenedName } from "./wire.ts";

/** The rules of src/SPEC.md for arrivals, each of which `--without` takes out. */
export const arrivalRules = ["F12", "F13"] as const;

export type ArrivalRule = (typeof arrivalRules)[number];

export function isArrivalRule(name: string): name is ArrivalRule {
  return arrivalRules.some((rule) => rule === name);
}

/** The two ways of use that a server without a rule is measured in. */
export const weakenable = ["channel", "gateway"] as const;

/** The name of a system without a rule. */
export function weakenedName(system: (typeof weakenable)[number], rule: ArrivalRule): WeakenedName {
  return `${system}-without-${rule}`;
}

/** The system and the rule that it is without; undefined for a whole system. */
export function weakenedOf(
  name: string,
): { readonly system: (typeof weakenable)[number]; readonly rule: ArrivalRule } | undefined {
  const [base, rule = ""] = name.split("-without-");
  const system = weakenable.find((each) => each === base);
  return system !== undefined && isArrivalRule(rule) ? { system, rule } : undefined;
}

export function isWeakenedName(name: string): name is WeakenedName {
  return weakenedOf(name) !== undefined;
}

/**
 * How each rule is taken out of the source. Without rule F12 nothing waits at an object, so rule F13 has nothing to
 * refuse there. Without rule F13 an arrival waits however long, and at the edge as before.
 */
export const changesWithout: Readonly<Record<ArrivalRule, readonly Change[]>> = {
  F12: [
    {
      name: "arrivals that wait",
      file: "src/object/arrivals.ts",
      code: "if (!this.#port.isSending() && !this.#areWaiting) {",
      weakened: "if (!this.#port.isSending() || !this.#areWaiting) {",
    },
    {
      name: "slices at once",
      file: "src/object/object-host.ts",
      code: "return Math.max(1, Math.min(slicesAtOnceMax, Math.floor(othersMs / othersMsPerSlice)));",
      weakened: "return Math.max(1, 0 * slicesAtOnceMax * othersMs * othersMsPerSlice);",
    },
  ],
  F13: [
    {
      name: "the bound of what waits",
      file: "src/object/arrivals.ts",
      code: "if (this.#bytes + arrival.bytes > limits.arrivalsWaitingBytesMax) {",
      weakened: "if (this.#bytes + arrival.bytes > Infinity) {",
    },
    {
      name: "arrivals that waited for too long",
      file: "src/object/arrivals.ts",
      code: "first !== undefined && elapsed(first.sinceMs, limits.arrivalWaitMs, nowMs);",
      weakened: "first !== undefined && elapsed(first.sinceMs, Infinity, nowMs);",
    },
  ],
};
