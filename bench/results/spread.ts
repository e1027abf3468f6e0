/** The median and the range of a figure that was taken several times. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/**
 * The median and the range: with three rounds, one that another program disturbed moves the range and not the median.
 *
 * @throws if there is no value
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((left, right) => left - right);
  const least = sorted[0];
  const most = sorted.at(-1);
  const below = sorted[Math.floor((sorted.length - 1) / 2)];
  const above = sorted[Math.ceil((sorted.length - 1) / 2)];
  if (least === undefined || most === undefined || below === undefined || above === undefined) {
    throw new Error("A figure without a value has no median");
  }
  return { median: (below + above) / 2, least, most };
}
