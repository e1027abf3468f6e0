/** What the operator's console is answered of all that was counted and refused (rule N4). */
import type { CollectedMetrics, CollectedRefusal } from "../metrics/metrics-report.ts";
import { buckets } from "../metrics/catalogue.ts";
import { type PastSpan, pastSpans } from "../metrics/past-hour.ts";
import { type MarkSums, markSums, sumsOf } from "../metrics/sums.ts";

/**
 * Writes all metrics as JSON.
 *
 * @param parts the totals of all collecting objects
 */
export function encodeConsoleMetrics(parts: readonly CollectedMetrics[], nowMs: number): string {
  const { counters, gauges, histograms } = sumsOf(parts);
  const hour = markSums(parts.map((part) => part.hourAgo));
  const today = markSums(parts.map((part) => part.today));
  const past = pastSpans(
    parts.map((part) => part.past),
    nowMs,
  );
  return JSON.stringify({
    at_ms: nowMs,
    counters: Object.fromEntries(counters),
    gauges: Object.fromEntries(gauges),
    histograms: Object.fromEntries(
      histograms.map(({ series, sum, counts }) => [series, { sum, counts }]),
    ),
    buckets,
    ...(hour === undefined ? {} : { hour: shownMark(hour) }),
    ...(today === undefined ? {} : { today: shownMark(today) }),
    ...(past === undefined ? {} : { past: past.map(shownSpan) }),
  });
}

function shownMark({ atMs, counters }: MarkSums): object {
  return { since_ms: atMs, counters: Object.fromEntries(counters) };
}

function shownSpan({ fromMs, toMs, ...counted }: PastSpan): object {
  return { from_ms: fromMs, to_ms: toMs, ...counted };
}

/** A refusal as the console shows it. */
export function shownCollectedRefusal({ atMs, ...refusal }: CollectedRefusal): object {
  return { at_ms: atMs, ...refusal };
}
