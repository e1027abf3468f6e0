import { pollLimits } from "./limits.ts";
import { dueMoment } from "../../moment.ts";

/**
 * When a channel's backend is asked for which keys (rules SP3 to SP5). A cycle asks for all keys in batches, once in each
 * refresh interval, and begins only after the cycle before has been answered: so a slow backend is asked no more often
 * than it answers. Keys that somebody has just begun to track are asked for at once, before the rest of a cycle. A key is
 * in one question at a time, so that no older answer follows a newer one.
 */
export class PollCycle {
  readonly #intervalMs: number;
  readonly #batchMax: number;
  /** When the next cycle begins, ms since 1970; Infinity while nothing is polled. */
  #dueAtMs = Number.POSITIVE_INFINITY;
  /** The keys of the cycle under way, and how many of them have been asked for. */
  #cycle: readonly string[] = [];
  #place = 0;
  /** Questions of the cycle in flight. */
  #cycleInFlight = 0;
  /** Keys to ask for at once. */
  readonly #soon = new Set<string>();
  /** Keys in flight. */
  readonly #asked = new Set<string>();
  #inFlight = 0;
  /** Failed questions in a row. */
  #failures = 0;

  /** @param batchMax the most keys in one question */
  constructor(intervalMs: number, batchMax: number) {
    this.#intervalMs = intervalMs;
    this.#batchMax = batchMax;
  }

  /** When {@link next} has to be called, ms since 1970; Infinity for never. */
  dueAtMs(nowMs: number): number {
    if (this.#inFlight >= pollLimits.pollsInFlightMax) return Number.POSITIVE_INFINITY;
    if (this.#place < this.#cycle.length) return nowMs;
    for (const key of this.#soon) if (!this.#asked.has(key)) return nowMs;
    if (this.#cycleInFlight > 0) return Number.POSITIVE_INFINITY;
    return dueMoment(this.#dueAtMs, this.#intervalMs, nowMs);
  }

  /** Somebody tracks a key now: the first cycle begins after an interval, as new keys are asked for at once. */
  start(nowMs: number): void {
    if (this.#dueAtMs === Number.POSITIVE_INFINITY) this.#dueAtMs = nowMs + this.#intervalMs;
  }

  /** Nobody tracks a key any more. Questions in flight end by themselves. */
  stop(): void {
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    this.#endCycle();
    this.#soon.clear();
  }

  /** Makes the backend be asked for a key before the next cycle. */
  askSoon(key: string): void {
    this.#soon.add(key);
  }

  /**
   * The keys of the next question, which is in flight from here on: {@link ended} has to be called.
   *
   * @param keys     all keys that are polled
   * @param isPolled whether a key is still one of them
   * @returns undefined if nothing is to be asked now
   */
  next(
    keys: () => readonly string[],
    isPolled: (key: string) => boolean,
    nowMs: number,
  ): PollQuestion | undefined {
    if (this.#inFlight >= pollLimits.pollsInFlightMax) return undefined;
    const isOver = this.#place >= this.#cycle.length && this.#cycleInFlight === 0;
    if (isOver && nowMs >= dueMoment(this.#dueAtMs, this.#intervalMs, nowMs)) {
      this.#cycle = keys();
      this.#place = 0;
      this.#dueAtMs = nowMs + this.#intervalMs;
    }
    const soon = this.#takeSoon(isPolled);
    if (soon.length > 0) return this.#begin(soon, false);
    const batch = this.#takeOfCycle(isPolled);
    return batch.length > 0 ? this.#begin(batch, true) : undefined;
  }

  /**
   * A question has ended.
   *
   * @param outcome failed: there is no answer, or none that can be used. Then the rest of the cycle is left out
   */
  ended({ keys, ofCycle }: PollQuestion, outcome: "answered" | "failed", nowMs: number): void {
    this.#inFlight--;
    if (ofCycle) this.#cycleInFlight--;
    for (const key of keys) this.#asked.delete(key);
    if (outcome === "answered") {
      this.#failures = 0;
      return;
    }
    if (this.#dueAtMs === Number.POSITIVE_INFINITY) return;
    const pauseMs = Math.min(
      pollLimits.pollRetryMs * 2 ** this.#failures,
      pollLimits.pollRetryMsMax,
    );
    this.#failures++;
    this.#endCycle();
    // A long interval would leave clients without data that have just come.
    this.#dueAtMs = Math.min(this.#dueAtMs, nowMs + pauseMs);
  }

  #begin(keys: readonly string[], ofCycle: boolean): PollQuestion {
    for (const key of keys) {
      this.#asked.add(key);
      this.#soon.delete(key);
    }
    this.#inFlight++;
    if (ofCycle) this.#cycleInFlight++;
    return { keys, ofCycle };
  }

  #takeSoon(isPolled: (key: string) => boolean): readonly string[] {
    const taken: string[] = [];
    for (const key of this.#soon) {
      if (taken.length >= this.#batchMax) break;
      if (!isPolled(key)) this.#soon.delete(key);
      else if (!this.#asked.has(key)) taken.push(key);
    }
    return taken;
  }

  #takeOfCycle(isPolled: (key: string) => boolean): readonly string[] {
    const taken: string[] = [];
    for (; this.#place < this.#cycle.length && taken.length < this.#batchMax; this.#place++) {
      const key = this.#cycle[this.#place];
      if (key !== undefined && isPolled(key) && !this.#asked.has(key)) taken.push(key);
    }
    return taken;
  }

  #endCycle(): void {
    this.#cycle = [];
    this.#place = 0;
  }
}

/** The keys of one question to the backend. */
export interface PollQuestion {
  readonly keys: readonly string[];
  /** Whether the question is part of a cycle. */
  readonly ofCycle: boolean;
}
