/** Makes the values of the plots from the counts that the server gives every few seconds. */
import type { Metrics, PastSpan, SeriesValues } from "./answers.ts";

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

/** What the plots need of the counts at one time: sums since the counts began, and gauges. */
export interface State {
  readonly atMs: number;
  readonly publications: number;
  readonly deliveries: number;
  readonly requests: number;
  readonly refusals: number;
  /** Answers of the HTTP API, by the buckets of their times. */
  readonly answers: readonly number[];
  readonly gauges: Pick<Point, "connections" | "subscriptions" | "channels">;
}

/** The state of the counts in an answer. */
export function stateOf({ at_ms, counters, gauges, histograms }: Metrics): State {
  return {
    atMs: at_ms,
    publications: sumOf(counters, "centrifugo_node_messages_sent_count"),
    deliveries: sumOf(counters, "dormouse_deliveries_total"),
    requests: sumOf(counters, "centrifugo_node_incoming_http_requests_total"),
    refusals: sumOf(counters, "dormouse_refusals_total"),
    answers: Object.entries(histograms)
      .filter(([series]) => series.startsWith("centrifugo_api_command_duration_seconds_histogram"))
      .reduce<readonly number[]>((sum, [, { counts }]) => added(sum, counts, 1), []),
    gauges: {
      connections: sumOf(gauges, "centrifugo_node_num_clients"),
      subscriptions: sumOf(gauges, "centrifugo_node_num_subscriptions"),
      channels: sumOf(gauges, "centrifugo_node_num_channels"),
    },
  };
}

/**
 * The point between two states of the counts. Objects report what they have counted every `report_ms`, so the two should
 * be as far apart: then each report is in the rate once.
 *
 * @param ends the upper ends of the buckets of times, in seconds
 */
export function pointBetween(
  before: State | undefined,
  now: State,
  ends: readonly number[],
): Point {
  const seconds = before === undefined ? 0 : (now.atMs - before.atMs) / 1_000;
  const rate = (name: "publications" | "deliveries" | "requests" | "refusals"): number | null =>
    before === undefined || seconds <= 0 ? null : Math.max(0, (now[name] - before[name]) / seconds);
  // Without an earlier state, the times would be those of all requests since the counts began.
  const counts = before === undefined ? [] : added(now.answers, before.answers, -1);
  return {
    at: now.atMs / 1_000,
    ...now.gauges,
    publications: rate("publications"),
    deliveries: rate("deliveries"),
    requests: rate("requests"),
    refusals: rate("refusals"),
    latencyMedianMs: quantileMs(counts, ends, 0.5),
    latencyHighMs: quantileMs(counts, ends, 0.99),
  };
}

/** What the page shows of the time before it was opened. */
export interface Past {
  readonly points: readonly Point[];
  /** The state before that of now, for the page's own first point; absent if nothing is known. */
  readonly before?: State;
}

/**
 * Makes points of what the server knows of the past hour. The interval in which it is now has none: it may have begun a
 * moment ago, and have a whole report in it, which would be a peak. The page's own first point is counted from the
 * beginning of the interval before.
 *
 * @param ends the upper ends of the buckets of times, in seconds
 */
export function pastOf(now: State, spans: readonly PastSpan[], ends: readonly number[]): Past {
  const states: State[] = [];
  let after = now;
  for (const [index, span] of [...spans.entries()].toReversed()) {
    after = stateBeforeSpan(after, span, spans[index - 1]);
    states.unshift(after);
  }
  const points = states.slice(1).map((state, index) => pointBetween(states[index], state, ends));
  const before = states.at(-2) ?? states.at(-1);
  return { points, ...(before !== undefined && { before }) };
}

/** The state at the beginning of a span, with the gauges at the end of the one before. */
function stateBeforeSpan(after: State, span: PastSpan, spanBefore: PastSpan | undefined): State {
  return {
    atMs: span.from_ms,
    publications: after.publications - span.publications,
    deliveries: after.deliveries - span.deliveries,
    requests: after.requests - span.requests,
    refusals: after.refusals - span.refusals,
    answers: added(after.answers, span.answers, -1),
    gauges: {
      connections: spanBefore?.clients ?? 0,
      subscriptions: spanBefore?.subscriptions ?? 0,
      channels: spanBefore?.channels ?? 0,
    },
  };
}

/** Adds counts to others, or takes them from those. */
function added(
  some: readonly number[],
  others: readonly number[],
  sign: 1 | -1,
): readonly number[] {
  const longer = some.length > others.length ? some : others;
  return longer.map((_, bucket) => (some[bucket] ?? 0) + sign * (others[bucket] ?? 0));
}

/** The states that rates may be counted from later: the newest one that is so many ms old, and those after it. */
export function keptStates(states: readonly State[], ms: number, nowMs: number): readonly State[] {
  const old = states.findLastIndex(({ atMs }) => nowMs - atMs >= ms);
  return states.slice(Math.max(old, 0));
}

/** The state that is as near as can be to so many ms before the newest one. */
export function stateBefore(states: readonly State[], ms: number): State | undefined {
  const newest = states.at(-1);
  if (newest === undefined) return undefined;
  const found = states.findLast(({ atMs }) => newest.atMs - atMs >= ms);
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
