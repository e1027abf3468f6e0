import type { CollectedMetrics, GaugeValue, HistogramAddition } from "./metrics-report.ts";

/** All series of several collecting objects, added up. */
export interface Sums {
  readonly counters: ReadonlyMap<string, number>;
  readonly gauges: ReadonlyMap<string, number>;
  readonly histograms: readonly HistogramAddition[];
}

/** Adds up the series of all collecting objects. */
export function sumsOf(parts: readonly CollectedMetrics[]): Sums {
  const counters = parts.flatMap((part) => part.counters);
  return {
    counters: sums(counters.map(({ series, added }) => ({ series, value: added }))),
    gauges: sums(parts.flatMap(({ gauges }) => gauges)),
    histograms: histogramSums(parts),
  };
}

/**
 * The counters of all collecting objects as they were an hour ago, or when the youngest of them began to count.
 *
 * @returns undefined if one of them doesn't tell, because it runs another release
 */
export function hourAgo(
  parts: readonly CollectedMetrics[],
): { readonly atMs: number; readonly counters: ReadonlyMap<string, number> } | undefined {
  const marks = parts.map((part) => part.hourAgo);
  let atMs = 0;
  const values: GaugeValue[] = [];
  for (const mark of marks) {
    if (mark === undefined) return undefined;
    atMs = Math.max(atMs, mark.atMs);
    values.push(...mark.counters.map(({ series, added }) => ({ series, value: added })));
  }
  return { atMs, counters: sums(values) };
}

function sums(samples: readonly GaugeValue[]): ReadonlyMap<string, number> {
  const added = new Map<string, number>();
  for (const { series, value } of samples) added.set(series, (added.get(series) ?? 0) + value);
  return added;
}

function histogramSums(parts: readonly CollectedMetrics[]): readonly HistogramAddition[] {
  const added = new Map<string, HistogramAddition>();
  for (const { series, sum, counts } of parts.flatMap(({ histograms }) => histograms)) {
    const before = added.get(series);
    added.set(series, {
      series,
      sum: (before?.sum ?? 0) + sum,
      counts: counts.map((count, bucket) => count + (before?.counts[bucket] ?? 0)),
    });
  }
  return [...added.values()];
}
