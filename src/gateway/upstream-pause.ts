import { limits } from "../limits.ts";

/** How long an overloaded channel is left alone: twice as long each time in a row, within limits. */
export class UpstreamPause {
  /** How long; undefined while the channel may be asked. */
  #ms: number | undefined;
  /** When it began; undefined until somebody says what time it is. */
  #sinceMs: number | undefined;
  /** In a row. */
  #count = 0;

  get lasts(): boolean {
    return this.#ms !== undefined;
  }

  begin(): void {
    this.#ms = Math.min(limits.overloadRetryMs * 2 ** this.#count, limits.overloadRetryMsMax);
    this.#sinceMs = undefined;
    this.#count++;
  }

  /** Nobody has anything to wait for. */
  skip(): void {
    this.#ms = undefined;
  }

  /** The channel isn't overloaded any more. */
  end(): void {
    this.#ms = undefined;
    this.#count = 0;
  }

  /** @returns whether it has ended just now */
  over(nowMs: number): boolean {
    const leftMs = this.leftMs(nowMs);
    if (leftMs === undefined || leftMs > 0) return false;
    this.#ms = undefined;
    return true;
  }

  /** @returns undefined when there is none */
  leftMs(nowMs: number): number | undefined {
    if (this.#ms === undefined) return undefined;
    // A clock that was set back must not make it longer.
    if (this.#sinceMs === undefined || nowMs < this.#sinceMs) this.#sinceMs = nowMs;
    return Math.max(0, this.#sinceMs + this.#ms - nowMs);
  }
}
