/** What the operator's console is answered of all that was counted and refused (rule N4). */
import type { CollectedMetrics, CollectedRefusal } from "../metrics/metrics-report.ts";
import { buckets } from "../metrics/catalogue.ts";
import { hourAgo, sumsOf } from "../metrics/sums.ts";

/**
 * Writes all metrics as JSON.
 *
 * @param parts the totals of all collecting objects
 */
export function encodeConsoleMetrics(parts: readonly CollectedMetrics[], nowMs: number): string {
  const { counters, gauges, histograms } = sumsOf(parts);
  const mark = hourAgo(parts);
  return JSON.stringify({
    at_ms: nowMs,
    counters: Object.fromEntries(counters),
    gauges: Object.fromEntries(gauges),
    histograms: Object.fromEntries(
      histograms.map(({ series, sum, counts }) => [series, { sum, counts }]),
    ),
    buckets,
    ...(mark === undefined
      ? {}
      : { hour: { since_ms: mark.atMs, counters: Object.fromEntries(mark.counters) } }),
  });
}

/** A refusal as the console shows it. */
export function shownCollectedRefusal({ atMs, ...refusal }: CollectedRefusal): object {
  return { at_ms: atMs, ...refusal };
}
