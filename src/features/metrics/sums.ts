import type {
  CollectedMetrics,
  CounterMark,
  GaugeValue,
  HistogramAddition,
} from "./metrics-report.ts";

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

/** Counters of all collecting objects as they were at a time, in ms since 1970. */
export interface MarkSums {
  readonly atMs: number;
  readonly counters: ReadonlyMap<string, number>;
}

/**
 * Adds up the marks of all collecting objects. An object that has counted nothing before its mark had the same counters
 * at each earlier time, so such a beginning is the time of the sum only if all marks are beginnings. The sum then has
 * the first of them (rule J6). An object that has counted nothing yet doesn't make the sum begin later.
 *
 * @returns undefined if one of them doesn't report it, because it runs another release
 */
export function markSums(marks: readonly (CounterMark | undefined)[]): MarkSums | undefined {
  const all: CounterMark[] = [];
  for (const mark of marks) {
    if (mark === undefined) return undefined;
    all.push(mark);
  }
  const known = all.filter(({ began }) => began !== true).map(({ atMs }) => atMs);
  const values = all.flatMap(({ counters }) =>
    counters.map(({ series, added }) => ({ series, value: added })),
  );
  return {
    atMs: known.length > 0 ? Math.max(...known) : Math.min(...all.map(({ atMs }) => atMs)),
    counters: sums(values),
  };
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
