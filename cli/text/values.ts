/** Parses the values of options. A value that isn't understood is refused with the option's name, and not quoted. */
import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../src/config/fields.ts";
import { parseJsonText } from "../../src/protocol/json/text.ts";
import { jsonValue, type JsonValue } from "../../src/protocol/wire-value.ts";

/** Parses a whole number within inclusive bounds. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = Number(text.replaceAll("_", ""));
    if (text.trim() !== "" && Number.isSafeInteger(value) && value >= min && value <= max)
      return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`It takes a whole number ${range}.`);
  };
}

/** Parses JSON. */
export function json(text: string): JsonValue {
  if (parseJsonText(text) === undefined)
    throw new InvalidArgumentError("It takes JSON; texts need double quotes within single ones.");
  return jsonValue(text);
}

/** Parses a duration such as `90s`, `24h` or `7d`, in seconds. */
export function durationSeconds(text: string): number {
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  const parsed = parseDuration(days === undefined ? text : `${Number(days) * 24}h`);
  if (parsed.outcome === "bad")
    throw new InvalidArgumentError("It takes a duration such as 90s, 24h or 7d.");
  return Math.floor(parsed.ms / 1_000);
}

/** Parses a duration such as `300ms` or `1s`, in ms. */
export function durationMs(min: number) {
  return (text: string): number => {
    const parsed = parseDuration(text);
    if (parsed.outcome !== "bad" && parsed.ms >= min) return parsed.ms;
    throw new InvalidArgumentError(
      `It takes a duration of at least ${min}ms, such as 300ms or 1s.`,
    );
  };
}

/** A position in the stream of a channel. */
export interface Position {
  readonly offset: number;
  readonly epoch: string;
}

/** Parses `OFFSET:EPOCH`; without an epoch, that of the stream that is there. */
export function position(text: string): Position {
  const [, offset = "", epoch = ""] = /^(\d{1,15})(?::(\S+))?$/.exec(text) ?? [];
  if (offset === "")
    throw new InvalidArgumentError("It takes OFFSET:EPOCH, such as 42:aBcD, as history prints it.");
  return { offset: Number(offset), epoch };
}

/** Collects `NAME=VALUE` of an option that may be repeated. */
export function pair(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError("It takes NAME=VALUE.");
  return { ...before, [name]: value };
}
