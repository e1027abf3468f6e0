import type { Rate } from "../config/rate-limit.ts";

/**
 * A token bucket (rule B7). It lives in memory only: after hibernation, which only a quiet client allows, the bucket is
 * full again.
 */
export class TokenBucket {
  protected readonly rate: Rate;
  #left: number;
  #countedAtMs = 0;

  /** @param rate may be shared, because each connection has several buckets */
  constructor(rate: Rate) {
    this.rate = rate;
    this.#left = rate.burst;
  }

  /**
   * Takes one.
   *
   * @returns over: refused. far-over: refused, after as many refusals as the burst allows commands.
   */
  spend(nowMs: number): "granted" | "over" | "far-over" {
    this.#gain(nowMs);
    this.#left--;
    if (this.#left >= 0) return "granted";
    if (this.#left >= -this.rate.burst) return "over";
    return "far-over";
  }

  /**
   * Takes one if there is one. Unlike with {@link spend}, a refusal doesn't count. This is for a bucket that many
   * clients share: if refusals counted, clients that retry would keep the bucket empty for ever.
   */
  spendIfLeft(nowMs: number): boolean {
    const isLeft = this.hasOne(nowMs);
    if (isLeft) this.#left--;
    return isLeft;
  }

  /** Whether {@link spend} would be granted. */
  hasOne(nowMs: number): boolean {
    this.#gain(nowMs);
    return this.#left >= 1;
  }

  /** Whether the bucket is full, and so as good as a new one. */
  isFull(nowMs: number): boolean {
    this.#gain(nowMs);
    return this.#left >= this.rate.burst;
  }

  #gain(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#countedAtMs) / 1000) * this.rate.perSecond;
    this.#countedAtMs = nowMs;
    this.#left = Math.min(this.rate.burst, this.#left + gained);
  }
}
