/** A workerd that served for so long, in ms, counts as sound: if it ends, the next one starts at once. */
const soundMs = 60_000;

/** The wait before the second start in a row in ms; it doubles with each further one, up to the longest. */
const waitMs = 250;
const waitMsMax = 5_000;

/** So many starts in a row without an answer, and the server ends, so that its service manager or operator notices. */
export const failedStartsMax = 5;

/**
 * Decides when `npm run serve` starts workerd again that ended by itself (rule B12): at once, unless it has just been
 * started, so that a fault that comes back doesn't take the processor.
 */
export class Restarts {
  #waitMs = 0;
  #hasServed = false;
  #failedStarts = 0;

  /**
   * workerd has ended by itself.
   *
   * @param servedMs for how long it had served; undefined if it ended before its first answer
   * @returns after how many ms to start it again; undefined if the server is to end: workerd has never served, or has
   *          ended at too many starts
   */
  afterEnd(servedMs: number | undefined): number | undefined {
    if (servedMs === undefined) {
      this.#failedStarts++;
      if (!this.#hasServed || this.#failedStarts >= failedStartsMax) return undefined;
    } else {
      this.#hasServed = true;
      this.#failedStarts = 0;
      if (servedMs >= soundMs) this.#waitMs = 0;
    }
    const now = this.#waitMs;
    this.#waitMs = Math.min(waitMsMax, Math.max(waitMs, 2 * now));
    return now;
  }
}
