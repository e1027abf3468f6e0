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

/** What is to be added to a series. */
export interface CounterAddition {
  readonly series: string;
  readonly added: number;
}

/** The value of a series. */
export interface GaugeValue {
  readonly series: string;
  readonly value: number;
}

/** The sum of observed values, and how many there were in each bucket and above the last one. */
export interface HistogramAddition {
  readonly series: string;
  readonly sum: number;
  readonly counts: readonly number[];
}

/** All series of one collecting object. */
export interface CollectedMetrics {
  readonly counters: readonly CounterAddition[];
  readonly histograms: readonly HistogramAddition[];
  /** Added up over the objects that reported them. */
  readonly gauges: readonly GaugeValue[];
  /** The counters an hour ago; absent from a release that doesn't keep them. */
  readonly hourAgo?: CounterMark;
}

/** Counters as they were at a time, in ms since 1970. */
export interface CounterMark {
  readonly atMs: number;
  readonly counters: readonly CounterAddition[];
}
