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
