import type {
  CollectedMetrics,
  CollectedRefusal,
  HistogramAddition,
} from "../contract/metrics-report.ts";
import { limits } from "../limits.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";
import { buckets } from "./catalogue.ts";
import { newestRefusals } from "./refusal-list.ts";
import { hourAgo, type Sums, sumsOf } from "./sums.ts";

/**
 * The counts that operators see on the server's own channel (rule N7). A page is told all series once, and then each
 * series whose value has changed, with its new value. So a publication that is lost or comes twice does no harm.
 */
export class LiveFigures {
  /** The totals of each collecting object, by its number. */
  readonly #parts = new Map<number, CollectedMetrics>();
  /** The sums that the pages were told last. */
  #told: Sums = nothing;
  #isChanged = false;
  /** The refusals that the pages haven't been told yet. */
  #refusals: readonly CollectedRefusal[] = [];

  /** Takes the totals of a collecting object. */
  take(collector: number, collected: CollectedMetrics): void {
    this.#parts.set(collector, collected);
    this.#isChanged = true;
  }

  /** Takes refusals, newest first. */
  refused(refusals: readonly CollectedRefusal[]): void {
    this.#refusals = newestRefusals([refusals, this.#refusals], limits.liveRefusalsMax);
  }

  /** Whether all collecting objects have told their totals: sums of some of them would go down. */
  get isComplete(): boolean {
    return this.#parts.size >= limits.metricsCollectors;
  }

  /** All series, as `POST /console/api/metrics` tells them. */
  all(nowMs: number): JsonText {
    return trustedJsonText(`{"all":${encodeConsoleMetrics([...this.#parts.values()], nowMs)}}`);
  }

  /** The changes since the last call; undefined if there are none. */
  changes(nowMs: number): JsonText | undefined {
    const refusals = this.#refusals;
    const series = this.#isChanged ? this.#changedSeries() : undefined;
    if (series === undefined && refusals.length === 0) return undefined;
    this.#refusals = [];
    return trustedJsonText(
      JSON.stringify({
        at_ms: nowMs,
        ...(series === undefined ? {} : { changed: series }),
        ...(refusals.length === 0 ? {} : { refusals: refusals.map(shownCollectedRefusal) }),
      }),
    );
  }

  /** Forgets everything, as no operator looks any more. */
  forget(): void {
    this.#parts.clear();
    this.#told = nothing;
    this.#isChanged = false;
    this.#refusals = [];
  }

  #changedSeries(): object | undefined {
    const before = this.#told;
    const now = sumsOf([...this.#parts.values()]);
    this.#told = now;
    this.#isChanged = false;
    const counters = changedValues(before.counters, now.counters);
    const gauges = changedValues(before.gauges, now.gauges);
    const known = new Map(before.histograms.map((one) => [one.series, one]));
    const histograms = now.histograms.filter((one) => isOther(known.get(one.series), one));
    const isSame =
      Object.keys(counters).length + Object.keys(gauges).length + histograms.length === 0;
    return isSame
      ? undefined
      : {
          counters,
          gauges,
          histograms: histogramsBySeries(histograms),
        };
  }
}

/**
 * Writes all metrics as JSON, for the console (rule N4).
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
    histograms: histogramsBySeries(histograms),
    buckets,
    ...(mark === undefined
      ? {}
      : { hour: { since_ms: mark.atMs, counters: Object.fromEntries(mark.counters) } }),
  });
}

function histogramsBySeries(
  histograms: readonly HistogramAddition[],
): Readonly<Record<string, Omit<HistogramAddition, "series">>> {
  return Object.fromEntries(histograms.map(({ series, sum, counts }) => [series, { sum, counts }]));
}

/** A refusal as the console shows it. */
export function shownCollectedRefusal({ atMs, ...refusal }: CollectedRefusal): object {
  return { at_ms: atMs, ...refusal };
}

const nothing: Sums = { counters: new Map(), gauges: new Map(), histograms: [] };

/** The series whose value is another one. A gauge that isn't among the series any more is 0. */
function changedValues(
  before: ReadonlyMap<string, number>,
  now: ReadonlyMap<string, number>,
): Readonly<Record<string, number>> {
  const changed: Record<string, number> = {};
  for (const [series, value] of now) if (before.get(series) !== value) changed[series] = value;
  for (const series of before.keys()) if (!now.has(series)) changed[series] = 0;
  return changed;
}

function isOther(before: HistogramAddition | undefined, now: HistogramAddition): boolean {
  return (
    before === undefined || now.counts.some((count, bucket) => count !== before.counts[bucket])
  );
}
