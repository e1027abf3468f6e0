/** The median of some figures; NaN for none. */
export function median(figures: readonly number[]): number {
  return (
    [...figures].sort((one, other) => one - other)[Math.floor(figures.length / 2)] ?? Number.NaN
  );
}
