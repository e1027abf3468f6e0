/** Writes times as a person reads them. */

/** A duration, such as `14 s`. */
export function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}

/** A time, such as `2026-11-22T17:28:30.131Z`; "" for none. */
export function momentOf(ms: number | undefined): string {
  // The API could answer with a number that is no time.
  return ms === undefined || !(Math.abs(ms) <= latestMs) ? "" : new Date(ms).toISOString();
}

/** The last time that a Date can have. */
const latestMs = 8.64e15;
