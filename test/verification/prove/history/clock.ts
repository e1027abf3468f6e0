/** µs of the machine's monotonic clock: never goes back, and is the same for all processes of one machine. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/**
 * The same moment on that clock.
 *
 * @param wallMs a time of the machine's wall clock, ms since 1970
 */
export function microsecondsAt(wallMs: number): number {
  let best = { width: Infinity, ahead: 0 };
  // Between two readings of a busy machine other processes may run.
  for (let reading = 0; reading < readings; reading++) {
    const before = microseconds();
    const nowMs = Date.now();
    const after = microseconds();
    const width = after - before;
    if (width < best.width) best = { width, ahead: before - 1_000 * nowMs };
  }
  return Math.round(1_000 * wallMs + best.ahead);
}

const readings = 4;
