/** Makes the values of the plots from the counts that the server gives every few seconds. */
import type { Metrics, SeriesValues } from "./answers.ts";

/** One point of all plots; the time is in seconds since 1970. */
export interface Point {
  readonly at: number;
  readonly connections: number;
  readonly subscriptions: number;
  readonly channels: number;
  /** A second; null while it isn't known, because nothing was counted before. */
  readonly publications: number | null;
  readonly deliveries: number | null;
  readonly requests: number | null;
  readonly refusals: number | null;
  /** Of the HTTP API, in ms; null where there was no request. */
  readonly latencyMedianMs: number | null;
  readonly latencyHighMs: number | null;
}

/**
 * The point between two states of the counts. Objects report what they have counted every `report_ms`, so the two should
 * be as far apart: then each report is in the rate once.
 */
export function pointBetween(before: Metrics | undefined, now: Metrics): Point {
  const seconds = before === undefined ? 0 : (now.at_ms - before.at_ms) / 1_000;
  const rate = (name: string): number | null =>
    before === undefined || seconds <= 0
      ? null
      : Math.max(0, (sumOf(now.counters, name) - sumOf(before.counters, name)) / seconds);
  // Without an earlier state, the times would be those of all requests since the counts began.
  const counts = before === undefined ? [] : latencyCounts(before, now);
  return {
    at: now.at_ms / 1_000,
    connections: sumOf(now.gauges, "centrifugo_node_num_clients"),
    subscriptions: sumOf(now.gauges, "centrifugo_node_num_subscriptions"),
    channels: sumOf(now.gauges, "centrifugo_node_num_channels"),
    publications: rate("centrifugo_node_messages_sent_count"),
    deliveries: rate("dormouse_deliveries_total"),
    requests: rate("centrifugo_node_incoming_http_requests_total"),
    refusals: rate("dormouse_refusals_total"),
    latencyMedianMs: quantileMs(counts, now.buckets.requests, 0.5),
    latencyHighMs: quantileMs(counts, now.buckets.requests, 0.99),
  };
}

/** The state that is as near as can be to so many ms before the newest one. */
export function stateBefore(states: readonly Metrics[], ms: number): Metrics | undefined {
  const newest = states.at(-1);
  if (newest === undefined) return undefined;
  const found = states.findLast((state) => newest.at_ms - state.at_ms >= ms);
  return found ?? (states.length > 1 ? states[0] : undefined);
}

/** The sum of all series of a metric. */
export function sumOf(values: SeriesValues, name: string): number {
  return Object.entries(values).reduce(
    (sum, [series, value]) =>
      series === name || series.startsWith(`${name}{`) ? sum + value : sum,
    0,
  );
}

/** The labels of a series, by their names. */
export function labelsOf(series: string): Readonly<Record<string, string>> {
  const pairs = series.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries(
    Array.from(pairs, ([, name = "", value = ""]) => [name, value.replaceAll(/\\(.)/g, "$1")]),
  );
}

const latency = "centrifugo_api_command_duration_seconds_histogram";

function latencyCounts(before: Metrics, now: Metrics): readonly number[] {
  const total: number[] = [];
  for (const [series, { counts }] of Object.entries(now.histograms)) {
    if (!series.startsWith(latency)) continue;
    const earlier = before.histograms[series]?.counts;
    for (const [bucket, count] of counts.entries())
      total[bucket] = (total[bucket] ?? 0) + count - (earlier?.[bucket] ?? 0);
  }
  return total;
}

/** A quantile of observed times, taken as evenly spread within a bucket; null if nothing was observed. */
export function quantileMs(
  counts: readonly number[],
  ends: readonly number[],
  quantile: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + Math.max(0, count), 0);
  if (total === 0) return null;
  let rest = total * quantile;
  for (const [bucket, count] of counts.entries()) {
    const begin = bucket === 0 ? 0 : (ends[bucket - 1] ?? 0);
    const end = ends[bucket] ?? begin;
    if (count >= rest && count > 0) return (begin + ((end - begin) * rest) / count) * 1_000;
    rest -= Math.max(0, count);
  }
  return (ends.at(-1) ?? 0) * 1_000;
}
