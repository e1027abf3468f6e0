import type { MetricName } from "./catalogue.ts";
import type {
  CounterAddition,
  HistogramAddition,
  ObjectPast,
  PastPoint,
} from "./metrics-report.ts";
import { countedSince } from "./day-mark.ts";
import { metricsLimits } from "./limits.ts";

/**
 * What the console's plots show of the past hour, as one collecting object knows it (rule J10). The hour is divided into
 * intervals of `limits.metricsPlotMs`, at the same times in each object. A point has what was reported in one of them;
 * where nothing was, there is no point. The points are stored with the totals, in the same row.
 */
export class PastHour {
  readonly #points: PastPoint[] = [];
  #sinceMs: number;
  #began: boolean;
  #reportedMs: number;

  /**
   * @param stored     what {@link stored} gave; absent if another release has stored the totals
   * @param reportedMs when something was last reported, ms since 1970; 0 for never
   */
  constructor(stored: ObjectPast | undefined, reportedMs: number) {
    this.#reportedMs = reportedMs;
    if (stored?.intervalMs === metricsLimits.metricsPlotMs) {
      this.#points.push(...stored.points);
      this.#sinceMs = stored.sinceMs;
      this.#began = stored.began === true;
      return;
    }
    this.#sinceMs = reportedMs;
    this.#began = reportedMs === 0;
    // The gauges have been the same since then.
    if (reportedMs !== 0) this.#points.push(emptyPoint(intervalOf(reportedMs)));
  }

  /**
   * Adds a report.
   *
   * @param gauges gives the sums of the gauges as they were before it
   */
  add(report: Reported, gauges: () => PlottedGauges, nowMs: number): void {
    const point = this.#pointAt(gauges, nowMs);
    let { publications, deliveries, requests, refusals, answers } = point;
    for (const { series, added } of report.counters)
      switch (nameOf(series)) {
        case plotted.publications:
          publications += added;
          break;
        case plotted.deliveries:
          deliveries += added;
          break;
        case plotted.requests:
          requests += added;
          break;
        case plotted.refusals:
          refusals += added;
          break;
      }
    for (const { series, counts } of report.histograms)
      if (nameOf(series) === plotted.answers) answers = sumOfCounts(answers, counts);
    this.#points[this.#points.length - 1] = {
      ...point,
      publications,
      deliveries,
      requests,
      refusals,
      answers,
    };
  }

  /** What is known now. */
  past(gauges: () => PlottedGauges, nowMs: number): ObjectPast {
    const { stored } = this;
    if (this.#wasSetBack(nowMs))
      return { intervalMs: stored.intervalMs, sinceMs: nowMs, points: [] };
    if (this.#sinceMs === 0) return { ...stored, sinceMs: nowMs };
    this.#close(gauges);
    return this.stored;
  }

  /** As it is stored. The newest point has no gauges: they are those of the objects. */
  get stored(): ObjectPast {
    return {
      intervalMs: metricsLimits.metricsPlotMs,
      sinceMs: this.#sinceMs,
      ...(this.#began && { began: true }),
      points: [...this.#points],
    };
  }

  /** The point that has what is reported now. It is the newest one. */
  #pointAt(gauges: () => PlottedGauges, nowMs: number): PastPoint {
    if (this.#wasSetBack(nowMs)) {
      this.#points.length = 0;
      this.#sinceMs = nowMs;
      this.#began = false;
    }
    if (this.#sinceMs === 0) this.#sinceMs = countedSince(nowMs, 0);
    this.#reportedMs = nowMs;
    const interval = intervalOf(nowMs);
    const newest = this.#points.at(-1);
    if (newest !== undefined && newest.interval >= interval) return newest;
    this.#close(gauges);
    // One point before the hour is needed: its gauges are those with which the hour begins.
    const old = this.#points.findLastIndex((point) => point.interval < firstInterval(nowMs));
    this.#points.splice(0, Math.max(old, 0));
    const point = emptyPoint(interval);
    this.#points.push(point);
    return point;
  }

  /** Gives the newest point the gauges, which haven't changed since the last report. */
  #close(gauges: () => PlottedGauges): void {
    const newest = this.#points.pop();
    if (newest !== undefined) this.#points.push({ ...newest, ...gauges() });
  }

  /** Whether the clock was set back by more than a report's time: then nothing is known of the time before now. */
  #wasSetBack(nowMs: number): boolean {
    return this.#reportedMs - nowMs > metricsLimits.metricsReportMs;
  }
}

/** What was counted from one time to another one, by all objects together, and the gauges at its end. */
export interface PastSpan extends Omit<PastPoint, "interval"> {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Adds up what all collecting objects know of the past hour. An object that has counted nothing before its first report
 * had zero until then. The time before any other object knows its counts is left out.
 *
 * @returns a span for each interval, and one for the current interval; none if the hour isn't known. Undefined if one
 *          of the objects doesn't report it, because it runs another release
 */
export function pastSpans(
  pasts: readonly (ObjectPast | undefined)[],
  nowMs: number,
): readonly PastSpan[] | undefined {
  const all: ObjectPast[] = [];
  for (const past of pasts) {
    if (past?.intervalMs !== metricsLimits.metricsPlotMs) return undefined;
    all.push(past);
  }
  const known = all.filter(({ began }) => began !== true).map(({ sinceMs }) => sinceMs);
  const last = intervalOf(nowMs);
  // The interval in which an object came to know its counts has a part of them only.
  const wholeMs = Math.max(...known) + metricsLimits.metricsPlotMs - 1;
  const beganMs = Math.min(...all.map(({ sinceMs }) => sinceMs));
  const first = Math.max(firstInterval(nowMs), intervalOf(known.length > 0 ? wholeMs : beganMs));
  if (known.length > 0 && first === last) return [];
  const spans: PastSpan[] = [];
  for (let interval = first; interval <= last; interval++) {
    // An object whose clock is ahead may have reported in the next one.
    const until = interval === last ? Number.POSITIVE_INFINITY : interval;
    const fromMs = interval * metricsLimits.metricsPlotMs;
    spans.push({
      ...all.map((past) => pointOf(past, interval, until)).reduce(sumOfPoints, nothing),
      fromMs: known.length > 0 ? fromMs : Math.max(fromMs, beganMs),
      toMs: Math.min(fromMs + metricsLimits.metricsPlotMs, nowMs),
    });
  }
  return spans;
}

/** What an object has counted from one interval to another one, with the gauges at their end. */
function pointOf({ points }: ObjectPast, from: number, until: number): Plotted {
  const within: readonly Plotted[] = points.filter(
    ({ interval }) => interval >= from && interval <= until,
  );
  const { clients, subscriptions, channels } =
    points.findLast(({ interval }) => interval <= until) ?? nothing;
  return { ...within.reduce(sumOfPoints, nothing), clients, subscriptions, channels };
}

type Plotted = Omit<PastPoint, "interval">;
type PlottedGauges = Pick<PastPoint, "clients" | "subscriptions" | "channels">;

/** A report, as far as it is plotted. */
interface Reported {
  readonly counters: readonly CounterAddition[];
  readonly histograms: readonly HistogramAddition[];
}

function sumOfPoints(one: Plotted, other: Plotted): Plotted {
  const sum = { ...one, answers: sumOfCounts(one.answers, other.answers) };
  for (const name of summed) sum[name] += other[name];
  return sum;
}

const summed = [
  "publications",
  "deliveries",
  "requests",
  "refusals",
  "clients",
  "subscriptions",
  "channels",
] as const;

function sumOfCounts(some: readonly number[], others: readonly number[]): readonly number[] {
  const longer = some.length > others.length ? some : others;
  return longer.map((_, bucket) => (some[bucket] ?? 0) + (others[bucket] ?? 0));
}

function emptyPoint(interval: number): PastPoint {
  return { interval, ...nothing };
}

const nothing: Plotted = {
  publications: 0,
  deliveries: 0,
  requests: 0,
  refusals: 0,
  answers: [],
  clients: 0,
  subscriptions: 0,
  channels: 0,
};

function intervalOf(ms: number): number {
  return Math.floor(ms / metricsLimits.metricsPlotMs);
}

/** The interval in which it was an hour ago. */
function firstInterval(nowMs: number): number {
  return intervalOf(nowMs - hourMs);
}

/** The name of a series without its labels. */
function nameOf(series: string): string {
  const [name = ""] = series.split("{", 1);
  return name;
}

const plotted = {
  publications: "centrifugo_node_messages_sent_count",
  deliveries: "dormouse_deliveries_total",
  requests: "centrifugo_node_incoming_http_requests_total",
  refusals: "dormouse_refusals_total",
  answers: "centrifugo_api_command_duration_seconds_histogram",
} as const satisfies Record<string, MetricName>;

const hourMs = 3_600_000;
