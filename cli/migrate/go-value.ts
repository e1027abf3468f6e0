/**
 * Reads values as Centrifugo does, whose options have types into which Go converts what a file or a variable holds: a
 * quoted boolean or number, 1 for true, a number of nanoseconds for a duration (rule A21).
 */
import { parseJsonText } from "../../src/protocol/json/text.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonValue,
} from "../../src/protocol/wire-value.ts";
import type { Kind } from "./options.ts";

/**
 * How a value was written. file: with types, in a nested configuration file. words: the same in a flat one, where a text
 * stands for a list, too. text: in a variable or a flag, which is text only.
 */
export type Form = "file" | "words" | "text";

/** What Centrifugo makes of a value. */
export type ReadValue =
  | { readonly outcome: "value"; readonly value: JsonValue }
  /** The option has no value, as if it weren't there. */
  | { readonly outcome: "none" }
  /** Centrifugo refuses it. `expected` is the kind in words. */
  | { readonly outcome: "bad"; readonly expected: string };

/** Reads a value by the kind of its option. */
export function readValue(kind: Kind, value: JsonValue, form: Form): ReadValue {
  if (value === null || (value === "" && form === "text")) return { outcome: "none" };
  const isEmptyObject = isJsonObject(value) && Object.keys(value).length === 0;
  if (isEmptyObject && kind !== "map") return { outcome: "none" };
  const read = readers[kind](value, form);
  return read === undefined
    ? { outcome: "bad", expected: words[kind] }
    : { outcome: "value", value: read };
}

/** Whether a value that was read is the zero of its kind, for which Centrifugo puts the default of an option. */
export function isZero(value: JsonValue): boolean {
  return (
    value === 0 ||
    value === "" ||
    value === "0" ||
    (typeof value === "string" && /^(?:0+\.?0*(?:ms|h|m|s))+$/.test(value))
  );
}

const words: Readonly<Record<Kind, string>> = {
  boolean: "true or false",
  whole: "a whole number",
  duration: 'a duration such as "25s"; a number means nanoseconds',
  text: "a text, in quotes if it is a number of many digits",
  texts: "a list of texts; in a variable, words with blanks between them, neither commas nor JSON",
  map: "an object of texts",
};

const readers: Readonly<Record<Kind, (value: JsonValue, form: Form) => JsonValue | undefined>> = {
  boolean: goBoolean,
  whole: goWholeNumber,
  duration: goDuration,
  text: goText,
  texts: goTexts,
  map: goMap,
};

/** A boolean as Go reads it; undefined if it reads none. */
export function goBoolean(value: JsonValue): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  if (typeof value !== "string") return undefined;
  if (/^(?:1|[tT]|true|True|TRUE)$/.test(value)) return true;
  return /^(?:0|[fF]|false|False|FALSE)?$/.test(value) ? false : undefined;
}

/** Numbers in quotes may have another base, and `_` between their digits. */
function goWholeNumber(value: JsonValue): number | undefined {
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "number") return safe(Math.trunc(value));
  if (typeof value !== "string") return undefined;
  if (value === "") return 0;
  const [, sign, digits = ""] = wholeNumber.exec(value) ?? [];
  if (sign === undefined) return undefined;
  const number = Number(digits.replaceAll("_", "").replace(/^0(?=\d)/, "0o"));
  return safe(sign === "-" ? -number : number);
}

const wholeNumber =
  /^([+-]?)(0x(?:_?[\da-f])+|0b(?:_?[01])+|0o(?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?\d)*)$/i;

function safe(number: number): number | undefined {
  return Number.isSafeInteger(number) ? number + 0 : undefined;
}

/** A duration in the notation that Dormouse reads, too. What is finer than a millisecond stays as it is. */
function goDuration(value: JsonValue): string | undefined {
  if (typeof value === "number") {
    const nanoseconds = Math.trunc(value);
    return Number.isInteger(nanoseconds / 1_000_000)
      ? shortest(nanoseconds / 1_000_000)
      : undefined;
  }
  if (typeof value !== "string" || !durationShape.test(value)) return undefined;
  const plain = value.replace(/^\+/, "");
  if (!/[nuµμ]s/.test(plain) || plain.startsWith("-")) return plain;
  let nanoseconds = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of plain.matchAll(durationPart))
    nanoseconds +=
      (BigInt(whole + fraction) * (unitNs[unit] ?? 0n)) / 10n ** BigInt(fraction.length);
  return nanoseconds % 1_000_000n === 0n ? shortest(Number(nanoseconds / 1_000_000n)) : plain;
}

function shortest(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

const durationShape =
  /^[+-]?(?:0|(?:(?:\d{1,18}\.?\d{0,18}|\.\d{1,18})(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const durationPart = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;
const unitNs: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** A text as Go makes it of a number or a boolean; undefined for a number whose digits JavaScript has lost. */
function goText(value: JsonValue): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value !== "number" || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    return undefined;
  const text = String(value);
  return text.includes("e") ? undefined : text;
}

/** One text stands for a list of one, or in a variable for words with blanks between them. */
function goTexts(value: JsonValue, form: Form): readonly string[] | undefined {
  if (isJsonArray(value)) {
    const texts = value.map((one) => (one === null ? "" : goText(one)));
    return texts.includes(undefined) ? undefined : texts.flatMap((one) => (one ? [one] : []));
  }
  const text = goText(value);
  if (text === undefined) return undefined;
  const found = wordsOf(text);
  // Nobody means a list of one by a text with blanks, a comma outside of braces, or brackets around it.
  const isOther = found.some((word) => /,(?![^{]*\})|^\[.*\]$/.test(word));
  return isOther || (form === "file" && found.length > 1) ? undefined : found;
}

/** The words of a text. */
export function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** An object of texts, a list of keys and values, or the JSON of an object in a variable. */
function goMap(value: JsonValue, form: Form): JsonObject | undefined {
  if (typeof value === "string") {
    const parsed = form === "text" ? jsonOf(value) : undefined;
    return parsed !== undefined && isJsonObject(parsed) ? goMap(parsed, form) : undefined;
  }
  const pairs = isJsonArray(value)
    ? value.map((one) => (isJsonObject(one) ? ([one["key"], one["value"]] as const) : []))
    : isJsonObject(value)
      ? Object.entries(value)
      : undefined;
  if (pairs === undefined) return undefined;
  const texts = pairs.flatMap(([key, one]) =>
    typeof key === "string" && typeof one === "string" ? [[key, one] as const] : [],
  );
  return texts.length === pairs.length ? Object.fromEntries(texts) : undefined;
}

/** The value of a JSON text; undefined if it isn't JSON. */
export function jsonOf(text: string): JsonValue | undefined {
  const trimmed = text.trim();
  return parseJsonText(trimmed) === undefined ? undefined : jsonValue(trimmed);
}
