import { limits } from "../limits.ts";

/**
 * Knows whether operators look at the counts of a collecting object (rule N7). While they do, the object asks as many
 * of those that report to it as it can answer to report more often.
 */
export class LiveLease {
  #endsAtMs = 0;
  #second = 0;
  #asked = 0;

  /** Notes that an operator looks, for the next `limits.liveLeaseMs`. */
  renew(nowMs: number): void {
    this.#endsAtMs = nowMs + limits.liveLeaseMs;
  }

  /** Whether an operator looks. */
  isOn(nowMs: number): boolean {
    return nowMs < this.#endsAtMs;
  }

  /** In how many ms the object that reports now is to report again; undefined for the usual time. */
  nextReportInMs(nowMs: number): number | undefined {
    if (!this.isOn(nowMs)) return undefined;
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) this.#asked = 0;
    this.#second = second;
    if (this.#asked >= limits.liveReportsPerSecond) return undefined;
    this.#asked++;
    return limits.liveReportMs;
  }
}
