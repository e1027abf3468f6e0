/** What the pages write: numbers, times and counts in words. */
import type { JsonValue } from "./answers.ts";

/**
 * A number of things: "1 user", "2 users". All counts with nouns are written by this function.
 *
 * @param plural absent where it is the noun with an s
 */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}

/** The newest of some things: "newest publication", "newest 25 publications". */
export function newest(value: number, noun: string): string {
  return value === 1 ? `newest ${noun}` : `newest ${counted(value, noun)}`;
}

/** A bound, exactly: "100,000". */
export function whole(value: number): string {
  return value.toLocaleString("en");
}

/** A number for people, such as 9,999 or 12.3 k. */
export function count(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value >= 1e7 ? 0 : 1)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(value >= 1e5 ? 0 : 1)} k`;
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

/** A size in bytes for people. */
export function bytes(value: number): string {
  if (value >= 1_048_576) return `${tenths(value / 1_048_576)} MiB`;
  return value >= 1_024 ? `${tenths(value / 1_024)} KiB` : `${value} B`;
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Milliseconds for people. */
export function milliseconds(value: number): string {
  return value >= 1_000
    ? `${(value / 1_000).toFixed(1)} s`
    : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** A duration of the configuration, exactly, in the largest unit of which it is a whole number: "90 minutes", "1 day". */
export function duration(ms: number): string {
  const [unitMs, unit] = units.find(([size]) => ms >= size && ms % size === 0) ?? [1, "ms"];
  return unit === "ms" ? `${ms} ms` : counted(ms / unitMs, unit);
}

/** For how long something has lasted, about. */
export function lasting(ms: number): string {
  const [unitMs, unit] = units.find(([size]) => ms >= 2 * size) ?? [1_000, "second"];
  return counted(Math.round(ms / unitMs), unit);
}

const units = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1_000, "second"],
] as const;

/** Words as a list: "a", "a and b", "a, b and c". */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** A time since 1970, in the operator's own words for it. */
export function time(ms: number | undefined): string {
  if (ms === undefined || ms === 0) return "–";
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString() : date.toLocaleString();
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A payload as text, as far as a table shows it; "" without one. */
export function shortened(data: JsonValue | undefined): string {
  const text = data === undefined ? "" : JSON.stringify(data);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
