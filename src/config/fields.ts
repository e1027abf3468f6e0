/**
 * The kinds of settings, with one function for each. A function takes the value of a key from its section and returns
 * the checked value, or the default if the key is absent. If the value is invalid, it reports a problem to the section
 * and returns the default.
 */
import { isJsonArray } from "../protocol/wire-value.ts";
import type { Section } from "./section.ts";

/** Reads true or false. The default is false, as for every switch of Centrifugo's configuration. */
export function readBoolean(section: Section, name: string, byDefault = false): boolean {
  const value = section.take(name);
  if (value === undefined || typeof value === "boolean") return value ?? byDefault;
  section.wrongType(name, value, "true or false");
  return false;
}

interface WholeNumberRule {
  readonly default: number;
  readonly min: number;
  /** If absent, the largest safe integer. */
  readonly max?: number;
}

/** Reads a whole number within inclusive bounds. */
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
  /** If absent, there is no minimum. */
  readonly minMs?: number;
  readonly maxMs?: number;
  /** The value is sent to clients, in seconds. */
  readonly wholeSeconds?: boolean;
}

/** Reads a duration such as "25s" as milliseconds, within inclusive bounds. */
export function readDurationMs(section: Section, name: string, rule: DurationRule): number {
  const value = section.take(name);
  if (value === undefined) return rule.defaultMs;
  if (typeof value !== "string") {
    section.wrongType(name, value, aDuration);
    return rule.defaultMs;
  }
  const duration = parseDuration(value);
  if (duration.outcome === "bad") {
    section.wrongValue(name, value, `is not ${aDuration}`);
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
  /** If absent, any string is valid. */
  readonly shape?: RegExp;
  /** The shape in words, such as "a cookie name". */
  readonly meaning?: string;
}

/** Reads a string of a shape. */
export function readText(section: Section, name: string, rule: TextRule): string {
  const value = section.take(name);
  if (value === undefined) return rule.default;
  if (typeof value !== "string") {
    section.wrongType(name, value, "a string");
  } else if (rule.shape !== undefined && !rule.shape.test(value)) {
    section.wrongValue(name, value, `is not ${rule.meaning ?? "in the right format"}`);
  } else {
    return value;
  }
  return rule.default;
}

/**
 * Reads the name of a secret of the Worker; "" if it is absent or empty. A name is told to whoever asks while the secret
 * is missing (rule A8). With the prefix, nobody writes the value by mistake, and no secret has the name of another
 * binding.
 */
export function readSecretName(section: Section, name: string, prefix: string): string {
  return readText(section, name, {
    default: "",
    shape: new RegExp(`^(?:${prefix}_(?!(?:[A-Z0-9_]*_)?PREVIOUS$)[A-Z0-9_]{1,64})?$`),
    meaning: `the name of a secret: ${prefix}_ and at most 64 of A-Z, 0-9 and _, not ending with _PREVIOUS`,
  });
}

interface ChoiceRule<Choice extends string> {
  /** The first one is the default. */
  readonly choices: readonly [Choice, ...Choice[]];
}

/** Reads one of several strings. */
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

/** A shape in words, or a function that says what is wrong with a text, as a sentence whose subject is the text. */
export type ListRule =
  | Required<Pick<TextRule, "shape" | "meaning">>
  | ((text: string) => string | undefined);

/**
 * Reads a list of strings by one rule; the default is the empty list. Each invalid element is a problem of its own.
 */
export function readTexts(section: Section, name: string, rule: ListRule): readonly string[] {
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
    else {
      const fault = faultOf(element, rule);
      if (fault === undefined) texts.push(element);
      else section.wrongValue(elementName, element, fault);
    }
  }
  return texts;
}

function faultOf(text: string, rule: ListRule): string | undefined {
  if (typeof rule === "function") return rule(text);
  return rule.shape.test(text) ? undefined : `is not ${rule.meaning}`;
}

/** A parsed duration in whole milliseconds, so that 0 means exactly zero and never less than one. */
type ParsedDuration =
  | { readonly outcome: "duration"; readonly ms: number }
  | { readonly outcome: "bad" };

/**
 * Parses a duration in Go's notation: "25s", "1m30s", "1.5h", "0". The units are h, m, s and ms.
 *
 * Negative durations, other units, fractions of a millisecond and durations over 10 years are invalid.
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
  if (totalMs > longestDurationMs) return { outcome: "bad" };
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

/**
 * 10 years of 365 days, which stand for a time without an end. A longer duration is a mistake, and this bound keeps
 * sums with a clock safe integers.
 */
export const longestDurationMs = 315_360_000_000;

/** The form of a duration, in words. */
const aDuration = 'a duration such as "25s" or "1h30m" (units: h, m, s, ms)';

/** No duration written by a person is longer. This bounds the integers above. */
const textLengthMax = 64;

/** Go accepts digits on either side of the point, or on both. */
const durationShape = /^(?:(?:\d+\.?\d*|\.\d+)(?:ms|h|m|s))+$/;
const durationPart = /(\d*)\.?(\d*)(ms|h|m|s)/g;
