import { dueMoment } from "../../moment.ts";
import { procedureLimits } from "./limits.ts";

/** The pauses between the tries of something that fails: each is twice as long as the one before, up to a bound. */
export class Pause {
  #untilMs = Number.NEGATIVE_INFINITY;
  #lengthMs = 0;

  /** Until when to wait, ms since 1970; -Infinity for not at all. */
  untilMs(nowMs: number): number {
    return this.#untilMs === Number.NEGATIVE_INFINITY
      ? this.#untilMs
      : dueMoment(this.#untilMs, this.#lengthMs, nowMs);
  }

  /** It has failed. */
  begin(nowMs: number): void {
    const { migrationPauseMsMin, migrationPauseMsMax } = procedureLimits;
    this.#lengthMs = Math.min(
      migrationPauseMsMax,
      Math.max(migrationPauseMsMin, 2 * this.#lengthMs),
    );
    this.#untilMs = nowMs + this.#lengthMs;
  }
}
