import { DormouseTestError } from "./test-error.ts";
import { testLimits } from "./test-limits.ts";

/** Which numbers a call takes, bounds included. */
export interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly isWhole: boolean;
}

/** The rules of the kit's numbers that aren't durations or counts. */
export const numberRules = {
  /** A wait, in ms. */
  withinMs: { min: 0, max: testLimits.timerMsMax, isWhole: false },
  /** By how much a channel without a server is advanced, in ms. */
  advanceMs: { min: 0, max: testLimits.advanceMsMax, isWhole: false },
  /** A time, in ms since 1970: the last is that of JavaScript's dates. */
  nowMs: { min: 0, max: 8.64e15, isWhole: true },
  port: { min: 0, max: 65_535, isWhole: true },
  /** How long a token is valid; one that has ended is for tests as well. */
  expiresInSeconds: {
    min: -testLimits.advanceMsMax / 1_000,
    max: testLimits.advanceMsMax / 1_000,
    isWhole: false,
  },
} as const satisfies Readonly<Record<string, NumberRule>>;

/**
 * Checks a number that a test gives, also in JavaScript.
 *
 * @param name of the call and of the number, such as "received: withinMs"
 * @throws {DormouseTestError} with the bounds
 */
export function checkNumber(name: string, value: unknown, rule: NumberRule): void {
  const { min, max, isWhole } = rule;
  const isNumber = typeof value === "number" && value >= min && value <= max;
  if (isNumber && (!isWhole || Number.isInteger(value))) return;
  const kind = isWhole ? "whole number" : "number";
  throw new DormouseTestError(`${name} must be a ${kind} from ${min} to ${max}`);
}

/** @throws {DormouseTestError} if it is no number of things */
export function checkCount(call: string, count: number): void {
  if (!Number.isSafeInteger(count) || count < 0)
    throw new DormouseTestError(`${call}: the number must be a whole one, at least 0`);
}
