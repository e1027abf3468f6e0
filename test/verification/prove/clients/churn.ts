import type { Random } from "../../../support/random.ts";

/** Decides when a subscriber leaves a channel without a reason, and how it returns. */
export class Churn {
  readonly #meanMs: number;
  readonly #random: Random;
  #dueAtMs: number | undefined;

  constructor(meanMs: number, random: Random) {
    this.#meanMs = meanMs;
    this.#random = random;
  }

  /** Whether the time has come. If so, the next time is drawn. */
  isDue(nowMs: number): boolean {
    const isDue = this.#dueAtMs !== undefined && nowMs >= this.#dueAtMs;
    if (isDue || this.#dueAtMs === undefined) {
      this.#dueAtMs = nowMs - Math.log(1 - this.#random.next()) * this.#meanMs;
    }
    return isDue;
  }

  /** How to leave now: whether the position is forgotten, and after how many ms to subscribe again; 0 for at once. */
  next(): { readonly forgets: boolean; readonly awayMs: number } {
    const forgets = this.#random.chance(0.3);
    const awayMs = this.#random.chance(0.3) ? 0 : this.#random.between(1, 1_000);
    return { forgets, awayMs };
  }
}
