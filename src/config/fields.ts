/**
 * Reads options by their rows: takes the value of a key from its section and returns the checked value, or the default if
 * the key is absent. If the value is invalid, it reports a problem to the section and returns the default.
 */
import { isJsonArray, type JsonValue } from "../protocol/wire-value.ts";
import type {
  BooleanOption,
  ChoiceOption,
  DurationOption,
  Option,
  Options,
  OptionValue,
  TextOption,
  TextRule,
  ValueOf,
  Values,
  WholeNumberOption,
} from "./option.ts";
import type { Section } from "./section.ts";

/** Reads options of a section, in their order. */
export function readOptions<Of extends Options>(section: Section, options: Of): Values<Of>;
export function readOptions(section: Section, options: Options): object {
  return valuesOf(section, options);
}

function valuesOf(section: Section, options: Options): object {
  const values: Record<string, OptionValue> = {};
  for (const [name, option] of Object.entries(options)) {
    const value = valueOf(section, name, option);
    if (value !== undefined) values[fieldOf(name, option)] = value;
  }
  return values;
}

/** The name of the field that has the value of an option. */
function fieldOf(name: string, option: Option): string {
  if (option.as !== undefined) return option.as;
  const field = camelCase(name);
  if (option.is === "duration") return `${field}Ms`;
  return option.is === "whole" ? field + (option.unit ?? "") : field;
}

/** The name of an option in camel case. Each namespace has the same options, so each name is made once. */
function camelCase(name: string): string {
  const known = camelNames.get(name);
  if (known !== undefined) return known;
  const made = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  camelNames.set(name, made);
  return made;
}

const camelNames = new Map<string, string>();

/** Reads one option. */
export function readOption<One extends Option>(
  section: Section,
  name: string,
  option: One,
): ValueOf<One>;
export function readOption(section: Section, name: string, option: Option): OptionValue {
  return valueOf(section, name, option);
}

/** The value of an option; undefined if there is none. */
function valueOf(section: Section, name: string, option: Option): OptionValue {
  if (option.read !== undefined) return option.read(section, name);
  switch (option.is) {
    case "boolean":
      return readBoolean(section, name, option);
    case "whole":
      return readWholeNumber(section, name, option) || (option.zeroIs ?? 0);
    case "duration":
      return readDurationMs(section, name, option) || (option.zeroIs ?? 0);
    case "text":
      return (
        (option.secret === undefined
          ? readText(section, name, option)
          : readSecretName(section, name, option.secret)) || emptyValue(option)
      );
    case "choice":
      return readChoice(section, name, option) || emptyValue(option);
    case "texts":
      return readTexts(section, name, option.each);
    case "section":
      return sectionOf(section.section(name), option.of);
    // Rows of these kinds have readers of their own.
    case "map":
    case "filter":
    case "sections":
      return undefined;
  }
}

/** The value that stands for "". */
function emptyValue({ optional, zeroIs = "" }: TextOption | ChoiceOption): string | undefined {
  return optional === true ? undefined : zeroIs;
}

/** Reads a section of which nothing is unsupported, and refuses other keys. */
export function readSection<Of extends Options>(section: Section, options: Of): Values<Of>;
export function readSection(section: Section, options: Options): object {
  return sectionOf(section, options);
}

function sectionOf(section: Section, options: Options): object {
  const values = valuesOf(section, options);
  checkNeeds(section, options, values);
  section.refuseOthers({});
  return values;
}

/**
 * Reports options that have no effect without another one. A key whose own value is invalid has been reported already, and
 * causes no further problem here.
 *
 * @param values of the options
 */
export function checkNeeds(section: Section, options: Options, values: object): void {
  const read: Record<string, OptionValue> = { ...values };
  for (const [name, option] of Object.entries(options)) {
    const { needs } = option;
    if (needs === undefined || !isOn(read[fieldOf(name, option)])) continue;
    const [other, wanted] = typeof needs === "string" ? [needs] : needs;
    const needed = options[other];
    const value = needed && read[fieldOf(other, needed)];
    const has = wanted === undefined ? isOn(value) : value === wanted;
    if (!has && section.isValid(other))
      section.problem(name, `requires ${other}${wanted === undefined ? "" : ` "${wanted}"`}`);
  }
}

function isOn(value: OptionValue): boolean {
  return value !== undefined && value !== false && value !== 0 && value !== "";
}

/** Reads true or false. */
function readBoolean(
  section: Section,
  name: string,
  { default: byDefault, development }: BooleanOption,
): boolean {
  const given = section.take(name);
  const value: JsonValue = given === undefined ? byDefault === true : given;
  if (typeof value !== "boolean") section.wrongType(name, value, "true or false");
  if (value !== true) return false;
  if (development !== undefined) section.developmentOnly(name, development);
  return true;
}

/** Reads a whole number within inclusive bounds. */
function readWholeNumber(section: Section, name: string, option: WholeNumberOption): number {
  const value = section.take(name);
  if (value === undefined) return option.default;
  const { min, max = Number.MAX_SAFE_INTEGER } = option;
  const range = option.max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  if (typeof value !== "number") {
    section.wrongType(name, value, `a whole number ${range}`);
  } else if (!Number.isSafeInteger(value) || value < min || value > max) {
    section.wrongValue(name, value, `is not a whole number ${range}`);
  } else {
    return value;
  }
  return option.default;
}

/** Reads a duration such as "25s" as milliseconds, within inclusive bounds. */
function readDurationMs(section: Section, name: string, option: DurationOption): number {
  const value = section.take(name);
  const { default: byDefault = 0, min, max } = option;
  if (value === undefined) return byDefault;
  if (typeof value !== "string") {
    section.wrongType(name, value, aDuration);
    return byDefault;
  }
  const duration = parseDuration(value);
  if (duration.outcome === "bad") {
    section.wrongValue(name, value, `is not ${aDuration}`);
    return byDefault;
  }
  const { ms } = duration;
  if (min !== undefined && ms < min) {
    section.wrongValue(name, value, `is shorter than ${min / 1_000}s`);
  } else if (max !== undefined && ms > max) {
    section.wrongValue(name, value, `is longer than ${max / 1_000}s`);
  } else if (option.wholeSeconds === true && ms % 1_000 !== 0) {
    section.wrongValue(name, value, "is not a whole number of seconds");
  } else {
    return ms;
  }
  return byDefault;
}

/** Reads a string of a shape; any string if there is none. */
export function readText(
  section: Section,
  name: string,
  { default: byDefault = "", shape, meaning = "in the right format" }: Omit<TextOption, "is"> = {},
): string {
  const value = section.take(name);
  if (value === undefined) return byDefault;
  if (typeof value !== "string") {
    section.wrongType(name, value, "a string");
  } else if (shape !== undefined && !shape.test(value)) {
    section.wrongValue(name, value, `is not ${meaning}`);
  } else {
    return value;
  }
  return byDefault;
}

/**
 * Reads the name of a secret of the Worker; "" if it is absent or empty. A name is told to whoever asks while the secret
 * is missing (rule A8). With the prefix, nobody writes the value by mistake, and no secret has the name of another
 * binding.
 */
function readSecretName(section: Section, name: string, prefix: string): string {
  return readText(section, name, {
    shape: new RegExp(`^(?:${prefix}_(?!(?:[A-Z0-9_]*_)?PREVIOUS$)[A-Z0-9_]{1,64})?$`),
    meaning: `the name of a secret: ${prefix}_ and at most 64 of A-Z, 0-9 and _, not ending with _PREVIOUS`,
  });
}

/** Reads one of several strings. */
function readChoice(section: Section, name: string, { of }: ChoiceOption): string {
  const value = section.take(name);
  const [fallback] = of;
  if (value === undefined) return fallback;
  const choice = of.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  const list = of.map((candidate) => JSON.stringify(candidate)).join(", ");
  if (typeof value !== "string") {
    section.wrongType(name, value, `one of ${list}`);
  } else {
    section.wrongValue(name, value, `is not one of ${list}`);
  }
  return fallback;
}

/**
 * Reads a list of strings by one rule; the default is the empty list. Each invalid element is a problem of its own.
 */
export function readTexts(section: Section, name: string, rule?: TextRule): readonly string[] {
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

function faultOf(text: string, rule: TextRule | undefined): string | undefined {
  if (rule === undefined) return undefined;
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
