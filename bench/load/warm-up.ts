/**
 * The duration of the warm-up, after which the code is compiled.
 *
 * @param seconds the duration of the measurement
 */
export function warmUpSeconds(seconds: number): number {
  return Math.min(0.3, seconds / 2);
}
