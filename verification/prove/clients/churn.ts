import type { Random } from "../../../test/support/random.ts";

/** When a subscriber leaves a channel for no reason, and how it comes back. */
export class Churn {
  readonly #meanMs: number;
  readonly #random: Random;
  #dueAtMs: number | undefined;

  constructor(meanMs: number, random: Random) {
    this.#meanMs = meanMs;
    this.#random = random;
  }

  /** Whether it is time. If so, the next time is drawn. */
  isDue(nowMs: number): boolean {
    const isDue = this.#dueAtMs !== undefined && nowMs >= this.#dueAtMs;
    if (isDue || this.#dueAtMs === undefined) {
      this.#dueAtMs = nowMs - Math.log(1 - this.#random.next()) * this.#meanMs;
    }
    return isDue;
  }

  /** How to leave now: without a position to return to, or with one; and for how long, 0 to return in the same breath. */
  next(): { readonly forgets: boolean; readonly awayMs: number } {
    const forgets = this.#random.chance(0.3);
    const awayMs = this.#random.chance(0.3) ? 0 : this.#random.between(1, 1_000);
    return { forgets, awayMs };
  }
}
