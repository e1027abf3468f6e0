/**
 * What to do with a moment once the clock was set back (rule S5). Whoever waits until a moment asks here, or compares the
 * distance of two moments in either direction.
 */

/**
 * When to act on a moment that was set an interval ahead: then, or at once if it is so far away that the clock must have
 * been set back by more than the interval. Infinity stays.
 */
export function dueMoment(dueMs: number, intervalMs: number, nowMs: number): number {
  return dueMs < Number.POSITIVE_INFINITY && dueMs - nowMs > 2 * intervalMs ? nowMs : dueMs;
}

/** Whether an interval has passed since a moment, or the clock was set back by more than that. */
export function elapsed(sinceMs: number, intervalMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - sinceMs) >= intervalMs;
}

/**
 * Whether a time has passed.
 *
 * @param atSeconds in seconds since 1970; 0 for never
 */
export function hasPassed(atSeconds: number, nowMs: number): boolean {
  return atSeconds !== 0 && atSeconds * 1_000 <= nowMs;
}

/**
 * Whether something that ends at one time lasts at least as long as something that ends at another time.
 *
 * @param endSeconds   in seconds since 1970; 0 for never
 * @param otherSeconds the same
 */
export function lastsAsLong(endSeconds: number, otherSeconds: number): boolean {
  return endSeconds === 0 || (otherSeconds !== 0 && endSeconds >= otherSeconds);
}
