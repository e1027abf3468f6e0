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

/** How often the clock is looked at, in ms: what is acknowledged meanwhile may be as volatile as a growing value's window. */
const lookMs = 100;

/** A step back by less, in ms, is over before anything that waits is late by more than an interval. */
const stepMsMin = 1_000;

/**
 * Calls back when the machine's clock was set back. workerd's objects then see a clock that stands until the old time is
 * reached, and their timers and alarms wait as long (rule S5): only a new process has the new time.
 *
 * @param act takes by how many ms it was set back
 * @returns a function that stops watching
 */
export function whenClockIsSetBack(act: (byMs: number) => void): () => void {
  let beforeMs = aheadMs();
  const watch = setInterval(() => {
    const byMs = beforeMs - aheadMs();
    beforeMs -= byMs;
    if (byMs >= stepMsMin) act(byMs);
  }, lookMs);
  return () => clearInterval(watch);
}

/** By how much the clock is ahead of one that nobody sets, in ms. */
function aheadMs(): number {
  return Date.now() - performance.now();
}
