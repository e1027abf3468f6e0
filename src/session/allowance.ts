/**
 * How often somebody may do something: so many times at once, and then so many times a second (rule B7). It lives in
 * memory only: whoever is so quiet that its object sleeps has all of it again.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #countedAtMs = 0;

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
  }

  /**
   * Takes one.
   *
   * @returns over: it is more than allowed, and refused. far-over: as often as that again was refused lately.
   */
  take(nowMs: number): "granted" | "over" | "far-over" {
    this.#gain(nowMs);
    this.#left--;
    if (this.#left >= 0) return "granted";
    if (this.#left >= -this.#burst) return "over";
    return "far-over";
  }

  /**
   * Takes one if there is one: a refusal costs nothing. For many who ask independently of each other: were those who come
   * again counted, their asking alone would keep everybody out for ever.
   */
  takeIfLeft(nowMs: number): boolean {
    this.#gain(nowMs);
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  #gain(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#countedAtMs) / 1000) * this.#perSecond;
    this.#countedAtMs = nowMs;
    this.#left = Math.min(this.#burst, this.#left + gained);
  }
}
