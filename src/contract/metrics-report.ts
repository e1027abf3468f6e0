/**
 * What objects and isolates of the edge tell the object that collects metrics (docs/metrics.md). During a deploy the
 * sides may be one release apart (rule V1): fields are only added. A series is named as Prometheus writes it, with its
 * labels, so the collecting object can also add up series that only another release knows.
 */
export interface MetricsReport {
  /** The reporting object, see `channelNode` and `gatewayNode`; "" for an isolate of the edge, which has no gauges. */
  readonly node: string;
  /** What was added to counters since the last report. */
  readonly counters: readonly CounterAddition[];
  /** What was observed since the last report. */
  readonly histograms: readonly HistogramAddition[];
  /** All of the object's gauges that aren't 0, as they are now. */
  readonly gauges: readonly GaugeValue[];
}

/** A series, and what is to be added to it. */
export type CounterAddition = readonly [series: string, added: number];

/** A series, and its value. */
export type GaugeValue = readonly [series: string, value: number];

/** A series, the sum of the observed values, and how many there were in each bucket and above the last one. */
export type HistogramAddition = readonly [series: string, sum: number, counts: readonly number[]];

/** All series of one collecting object. */
export interface CollectedMetrics {
  readonly counters: readonly CounterAddition[];
  readonly histograms: readonly HistogramAddition[];
  /** Added up over the objects that reported them. */
  readonly gauges: readonly GaugeValue[];
}
