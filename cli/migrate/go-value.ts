/**
 * Reads values as Centrifugo does, whose options have types into which Go converts what a file or a variable holds: a
 * quoted boolean or number, 1 for true, one text for a list (rule A21).
 */
import { isJsonArray, isJsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";

/**
 * Converts a value to the type that the parser of the configuration demands.
 *
 * @param reason the parser's sentence about the value, without its subject
 * @returns undefined if the parser demands no type, or Centrifugo refuses the value, too
 */
export function goValue(value: JsonValue, reason: string): JsonValue | undefined {
  // A feature that is off may be off in quotes.
  const [, demanded = "false"] = /^must be (.+), found \w+(?: \w+)?$/s.exec(reason) ?? [];
  if (value === null) return undefined;
  if (demanded === "false") return offOrWhole(value, reason);
  if (demanded === "true or false") return goBoolean(value);
  if (demanded.startsWith("a whole number")) return goWholeNumber(value);
  if (demanded.startsWith("a duration")) return goDuration(value);
  if (demanded === "a string" || demanded.startsWith("one of ")) return goText(value);
  if (demanded === "an array of strings") return typeof value === "string" ? [value] : undefined;
  return demanded === "an array of objects" && isJsonObject(value) ? [value] : undefined;
}

function offOrWhole(value: JsonValue, reason: string): JsonValue | undefined {
  if (typeof value === "number" && !Number.isInteger(value))
    return reason.startsWith("is not a whole number") ? Math.trunc(value) : undefined;
  const isFeature = reason.includes("supported") && typeof value === "string";
  return isFeature && goBoolean(value) === false ? false : undefined;
}

/** A boolean as Go reads it; undefined if it reads none. */
export function goBoolean(value: JsonValue): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  if (typeof value !== "string") return undefined;
  if (/^(?:1|[tT]|true|True|TRUE)$/.test(value)) return true;
  return /^(?:0|[fF]|false|False|FALSE)?$/.test(value) ? false : undefined;
}

function goWholeNumber(value: JsonValue): number | undefined {
  if (typeof value === "boolean") return Number(value);
  if (typeof value !== "string") return undefined;
  const [, sign, digits] = /^([+-]?)(0[xob][\da-f_]+|\d[\d_]*|)$/i.exec(value) ?? [];
  if (digits === undefined) return undefined;
  const plain = digits.replaceAll("_", "").replace(/^0(?=\d)/, "0o");
  const number = Number(plain);
  if (Number.isNaN(number)) return undefined;
  return sign === "-" ? -number : number;
}

/** A number is a duration in nanoseconds. */
function goDuration(value: JsonValue): string | undefined {
  return typeof value === "number" && Number.isInteger(value / 1_000_000)
    ? `${value / 1_000_000}ms`
    : undefined;
}

/** A text as Go makes it of a number or a boolean; undefined for a number whose digits JavaScript has lost. */
export function goText(value: JsonValue): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Lower-cases the names of options, whose case doesn't matter to Centrifugo. */
export function withoutCase(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(withoutCase);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, below]): [string, JsonValue] => {
    const lower = name.toLowerCase();
    return [lower, /static_(?:http_)?headers$|metadata$/.test(lower) ? below : withoutCase(below)];
  });
  return Object.fromEntries(entries);
}
