import type { CounterAddition, HistogramAddition, MetricsReport } from "./metrics-report.ts";
import {
  buckets,
  type CounterName,
  type HistogramName,
  type Labels,
  metrics,
  seriesOf,
} from "./catalogue.ts";

/** The counts of one object, or of one isolate of the edge, since its last report. */
export class Counts {
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();

  /** The counter of a series. Who counts often keeps it, and adds to its `value`: then counting is one addition. */
  counter(name: CounterName, labels?: Labels): Counter {
    return this.#counter(seriesOf(name, labels));
  }

  /** Adds to a counter. */
  add(name: CounterName, labels?: Labels, added = 1): void {
    this.counter(name, labels).value += added;
  }

  /** Notes an observed time. */
  observe(name: HistogramName, seconds: number, labels?: Labels): void {
    const { buckets: kind } = metrics[name];
    this.#histogram(seriesOf(name, labels), buckets[kind].length + 1).observe(
      seconds,
      buckets[kind],
    );
  }

  /** Whether something was counted since the last report. */
  get any(): boolean {
    for (const { value } of this.#counters.values()) if (value !== 0) return true;
    for (const { count } of this.#histograms.values()) if (count > 0) return true;
    return false;
  }

  /** Takes the counts since the last report; counting begins at 0 again. */
  drain(): Pick<MetricsReport, "counters" | "histograms"> {
    const counters: CounterAddition[] = [];
    for (const [series, counter] of this.#counters) {
      if (counter.value !== 0) counters.push({ series, added: counter.value });
      counter.value = 0;
    }
    const histograms: HistogramAddition[] = [];
    for (const [series, histogram] of this.#histograms)
      if (histogram.count > 0) histograms.push({ series, ...histogram.drain() });
    return { counters, histograms };
  }

  /** Adds what another object has counted. A series with other buckets, which another release has, isn't added. */
  merge({ counters, histograms }: Pick<MetricsReport, "counters" | "histograms">): void {
    for (const { series, added } of counters) this.#counter(series).value += added;
    for (const one of histograms) this.#histogram(one.series, one.counts.length).merge(one);
  }

  #counter(series: string): Counter {
    const known = this.#counters.get(series);
    if (known !== undefined) return known;
    const counter = { value: 0 };
    this.#counters.set(series, counter);
    return counter;
  }

  #histogram(series: string, size: number): Histogram {
    const known = this.#histograms.get(series);
    if (known !== undefined) return known;
    const histogram = new Histogram(size);
    this.#histograms.set(series, histogram);
    return histogram;
  }
}

/** A counter; what is counted is added to `value`. */
export interface Counter {
  value: number;
}

/** How many observed values there were in each bucket, and above the last one. */
class Histogram {
  #sum = 0;
  #counts: number[];

  constructor(size: number) {
    this.#counts = Array.from({ length: size }, () => 0);
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  observe(value: number, ends: readonly number[]): void {
    const found = ends.findIndex((end) => value <= end);
    const bucket = found < 0 ? ends.length : found;
    this.#sum += value;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  merge({ sum, counts }: Omit<HistogramAddition, "series">): void {
    if (counts.length !== this.#counts.length) return;
    this.#sum += sum;
    this.#counts = this.#counts.map((count, bucket) => count + (counts[bucket] ?? 0));
  }

  drain(): Omit<HistogramAddition, "series"> {
    const taken = { sum: this.#sum, counts: this.#counts };
    this.#sum = 0;
    this.#counts = this.#counts.map(() => 0);
    return taken;
  }
}
