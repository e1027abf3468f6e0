import type { Random } from "../../../support/random.ts";

/**
 * The wait before the next attempt: exponential with full jitter, from 50 ms to 1 s, as the SDKs are configured here.
 */
export class Backoff {
  readonly #random: Random;
  #attempts = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The next wait, ms. Each is likely to be longer than the one before. */
  next(): number {
    const most = Math.min(longestMs, shortestMs * 2 ** this.#attempts++);
    return Math.min(longestMs, shortestMs + this.#random.next() * most);
  }

  /** An attempt succeeded. */
  reset(): void {
    this.#attempts = 0;
  }
}

export const shortestMs = 50;
export const longestMs = 1_000;
