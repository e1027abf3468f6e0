import { parseDuration } from "../../src/config/fields.ts";
import { DormouseTestError } from "./test-error.ts";

/**
 * A time in ms, from a number or from a text as in the configuration, such as "1h30m".
 *
 * @param mostMs the longest that the call can do, in ms
 *
 * @throws {DormouseTestError} if it is neither, or negative, or longer than that
 */
export function durationMs(call: string, duration: number | string, mostMs: number): number {
  const ms = readDuration(call, duration);
  if (ms <= mostMs) return ms;
  throw new DormouseTestError(`${call}: the duration must be at most ${mostMs} ms`);
}

function readDuration(call: string, duration: number | string): number {
  if (typeof duration === "number") {
    if (Number.isFinite(duration) && duration >= 0) return duration;
  } else if (typeof duration === "string") {
    const parsed = parseDuration(duration);
    if (parsed.outcome === "duration") return parsed.ms;
  }
  throw new DormouseTestError(
    `${call}: the duration must be a number of ms, or a text such as "90s" or "1h30m", and not negative`,
  );
}
