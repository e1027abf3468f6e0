import { isJsonArray } from "../protocol/wire-value.ts";
import type { Section } from "./section.ts";

/*
 * One function per kind of setting. Each takes the key's value from its section and gives it checked; when it is absent
 * or bad, the default, the latter with a problem reported to the section.
 */

/** Reads true or false; false by default, as every switch in Centrifugo's configuration is. */
export function readBoolean(section: Section, name: string): boolean {
  const value = section.take(name);
  if (value === undefined || typeof value === "boolean") return value ?? false;
  section.wrongType(name, value, "true or false");
  return false;
}

interface WholeNumberRule {
  readonly default: number;
  readonly min: number;
  /** Absent: as large as a number can be and still count. */
  readonly max?: number;
}

/** Reads a whole number within bounds, both of which are allowed themselves. */
export function readWholeNumber(section: Section, name: string, rule: WholeNumberRule): number {
  const value = section.take(name);
  if (value === undefined) return rule.default;
  const { min, max = Number.MAX_SAFE_INTEGER } = rule;
  const range = rule.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  if (typeof value !== "number") {
    section.wrongType(name, value, `a whole number ${range}`);
  } else if (!Number.isSafeInteger(value) || value < min || value > max) {
    section.wrongValue(name, value, `is not a whole number ${range}`);
  } else {
    return value;
  }
  return rule.default;
}

interface DurationRule {
  readonly defaultMs: number;
  /** Absent: nothing is too short. */
  readonly minMs?: number;
  readonly maxMs?: number;
  /** The setting goes to clients, who count in seconds. */
  readonly wholeSeconds?: boolean;
}

/** Reads a duration such as "25s" as milliseconds, within bounds that are allowed themselves. */
export function readDurationMs(section: Section, name: string, rule: DurationRule): number {
  const value = section.take(name);
  if (value === undefined) return rule.defaultMs;
  if (typeof value !== "string") {
    section.wrongType(name, value, 'a duration such as "25s"');
    return rule.defaultMs;
  }
  const duration = parseDuration(value);
  if (duration.outcome === "bad") {
    section.wrongValue(name, value, 'is not a duration such as "25s"');
    return rule.defaultMs;
  }
  const { ms } = duration;
  if (rule.minMs !== undefined && ms < rule.minMs) {
    section.wrongValue(name, value, `is shorter than ${rule.minMs / 1_000}s`);
  } else if (rule.maxMs !== undefined && ms > rule.maxMs) {
    section.wrongValue(name, value, `is longer than ${rule.maxMs / 1_000}s`);
  } else if (rule.wholeSeconds === true && ms % 1_000 !== 0) {
    section.wrongValue(name, value, "is not a whole number of seconds");
  } else {
    return ms;
  }
  return rule.defaultMs;
}

interface TextRule {
  readonly default: string;
  /** Absent: any text will do. */
  readonly shape?: RegExp;
  /** What a text of that shape is: "a cookie name". */
  readonly meaning?: string;
}

/** Reads text of a shape. */
export function readText(section: Section, name: string, rule: TextRule): string {
  const value = section.take(name);
  if (value === undefined) return rule.default;
  if (typeof value !== "string") {
    section.wrongType(name, value, "a string");
  } else if (rule.shape !== undefined && !rule.shape.test(value)) {
    section.wrongValue(name, value, `is not ${rule.meaning ?? "of the right shape"}`);
  } else {
    return value;
  }
  return rule.default;
}

interface ChoiceRule<Choice extends string> {
  /** The first is the default. */
  readonly choices: readonly [Choice, ...Choice[]];
}

/** Reads one of a few words. */
export function readChoice<Choice extends string>(
  section: Section,
  name: string,
  rule: ChoiceRule<Choice>,
): Choice {
  const value = section.take(name);
  const [fallback] = rule.choices;
  if (value === undefined) return fallback;
  const choice = rule.choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  const list = rule.choices.map((candidate) => JSON.stringify(candidate)).join(", ");
  if (typeof value !== "string") {
    section.wrongType(name, value, `one of ${list}`);
  } else {
    section.wrongValue(name, value, `is not one of ${list}`);
  }
  return fallback;
}

/** Reads a list of texts of one shape; the empty list by default. Each bad element is a problem of its own. */
export function readTexts(
  section: Section,
  name: string,
  rule: Required<Pick<TextRule, "shape" | "meaning">>,
): readonly string[] {
  const value = section.take(name);
  if (value === undefined) return [];
  if (!isJsonArray(value)) {
    section.wrongType(name, value, "an array of strings");
    return [];
  }
  const texts: string[] = [];
  for (const [index, element] of value.entries()) {
    const elementName = `${name}[${index}]`;
    if (typeof element !== "string") section.wrongType(elementName, element, "a string");
    else if (!rule.shape.test(element)) {
      section.wrongValue(elementName, element, `is not ${rule.meaning}`);
    } else texts.push(element);
  }
  return texts;
}

/** What a duration's text says. Whole milliseconds, so that 0 can only mean zero and never "less than one". */
type ParsedDuration =
  | { readonly outcome: "duration"; readonly ms: number }
  | { readonly outcome: "bad" };

/**
 * Parses a duration as Go writes it: "25s", "1m30s", "1.5h", "0". Units are h, m, s and ms.
 *
 * Bad are negative ones, other units, what isn't whole milliseconds, and all beyond 10 years.
 */
export function parseDuration(text: string): ParsedDuration {
  if (text === "0") return { outcome: "duration", ms: 0 };
  if (text.length > textLengthMax || !durationShape.test(text)) return { outcome: "bad" };
  let totalMs = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(durationPart)) {
    // In integers, because 1.001 * 1000 is not 1001 in floating point.
    const scaled = BigInt(whole + fraction) * unitMs(unit);
    const divisor = 10n ** BigInt(fraction.length);
    if (scaled % divisor !== 0n) return { outcome: "bad" };
    totalMs += scaled / divisor;
  }
  if (totalMs > durationMsMax) return { outcome: "bad" };
  return { outcome: "duration", ms: Number(totalMs) };
}

function unitMs(unit: string): bigint {
  switch (unit) {
    case "h":
      return 3_600_000n;
    case "m":
      return 60_000n;
    case "s":
      return 1_000n;
    default:
      return 1n;
  }
}

/** 10 years of 365 days: more is a mistake, and sums with a clock stay safe numbers. */
const durationMsMax = 315_360_000_000n;

/** Longer than any duration a person writes; it bounds the integers above. */
const textLengthMax = 64;

/** Go takes a number with digits on either side of the point, or on both. */
const durationShape = /^(?:(?:\d+\.?\d*|\.\d+)(?:ms|h|m|s))+$/;
const durationPart = /(\d*)\.?(\d*)(ms|h|m|s)/g;
