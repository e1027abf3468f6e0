/** µs of the machine's monotonic clock: never goes back, and is the same for all processes of one machine. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
