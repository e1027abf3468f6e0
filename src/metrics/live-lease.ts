import { limits } from "../limits.ts";

/**
 * Whether operators look at what is reported to a collecting object (rule N7). While they do, the object asks those that
 * report to do so more often, as many of them as it can answer.
 */
export class LiveLease {
  #endsAtMs = 0;
  #second = 0;
  #asked = 0;

  /** Somebody looks, or still does. */
  renew(nowMs: number): void {
    this.#endsAtMs = nowMs + limits.liveLeaseMs;
  }

  /** Whether somebody looks. */
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
