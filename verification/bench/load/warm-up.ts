/**
 * Goes before what is measured, so that nobody is seen while its code isn't compiled yet.
 *
 * @param seconds how long is measured
 */
export function warmUpSeconds(seconds: number): number {
  return Math.min(0.3, seconds / 2);
}
