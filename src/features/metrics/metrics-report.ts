import type { KeptRefusal } from "../../contract/kept-refusal.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedObjectCalls extends Pick<MetricsCalls, "report"> {}
}

declare module "../../contract/channel-call.ts" {
  interface CarriedReport extends Pick<MetricsReport, "counters" | "histograms"> {
    /** All of its gauges that aren't 0; absent if they are as they were with an answer or a report before. */
    readonly gauges?: readonly GaugeValue[];
  }
}

/**
 * A report of an object, or of an isolate of the edge, to an object that collects metrics (docs/metrics.md). During a
 * deploy the sides may be one release apart (rule V1): fields are only added. A series is named as Prometheus writes
 * it, with its labels, so the collecting object can also add up series that only another release knows.
 */
export interface MetricsReport {
  /** The reporting object, see `channelNode` and `gatewayNode`; "" for an isolate of the edge, which has no gauges. */
  readonly node: string;
  /** The additions to counters since the last report. */
  readonly counters: readonly CounterAddition[];
  /** The times that were observed since the last report. */
  readonly histograms: readonly HistogramAddition[];
  /** All of the object's gauges that aren't 0, as they are now. */
  readonly gauges: readonly GaugeValue[];
  /** The last refusals since the last report, newest first. Absent: none. */
  readonly refusals?: readonly KeptRefusal[];
  /**
   * The gauges of other objects, whose counts came with their answers and are among these (rule J8). Absent: of none.
   */
  readonly carried?: readonly NodeGauges[];
}

/** The gauges of an object, as they last were. */
export interface NodeGauges {
  readonly node: string;
  readonly gauges: readonly GaugeValue[];
}

/** A refusal as a collecting object remembers it. */
export interface CollectedRefusal extends KeptRefusal {
  /** The object that refused, or {@link edgeNode}. */
  readonly object: string;
}

/** Which refusals a collecting object is asked for. */
export interface RefusalsQuery {
  /** At most so many. */
  readonly count: number;
  /** Only those of the edge; absent: of all objects, too. */
  readonly onlyEdge?: true;
}

/** The name of all isolates of the edge together, where objects are named. */
export const edgeNode = "edge";

/** The number that is to be added to a series. */
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
  /** The counters at the beginning of the day, in UTC; absent from a release that doesn't keep them. */
  readonly today?: CounterMark;
  /** The past hour; absent if it wasn't asked for, and from a release that doesn't keep it. */
  readonly past?: ObjectPast;
}

/** What is asked of a collecting object besides its series. */
export interface CollectedQuery {
  /** Whether the past hour is. */
  readonly past?: true;
}

/** What a collecting object knows of the past hour (rule J10). */
export interface ObjectPast {
  /** The length of an interval. Another release may have another one. */
  readonly intervalMs: number;
  /** Since when the counts are known, ms since 1970. */
  readonly sinceMs: number;
  /** Present if nothing had been counted before: then the counts are known to be 0 at each earlier time, too. */
  readonly began?: true;
  /** The intervals in which something was reported, the oldest first, which may be older than an hour. */
  readonly points: readonly PastPoint[];
}

/** What was reported in an interval, and the gauges at its end. */
export interface PastPoint {
  /** The number of intervals since 1970. */
  readonly interval: number;
  readonly publications: number;
  readonly deliveries: number;
  readonly requests: number;
  readonly refusals: number;
  /** Answers of the HTTP API, by the buckets of their times; none if there was none. */
  readonly answers: readonly number[];
  readonly clients: number;
  readonly subscriptions: number;
  readonly channels: number;
}

/** Counters as they were at a time, in ms since 1970. */
export interface CounterMark {
  readonly atMs: number;
  readonly counters: readonly CounterAddition[];
  /** Present if nothing had been counted before: then the counters were 0 at each earlier time, too. */
  readonly began?: true;
}

/** The calls of an object that collects metrics. */
export interface MetricsCalls {
  /** Adds what an object or an isolate of the edge has counted since its last report. */
  report(report: MetricsReport): Promise<void>;
  /** Gives all that was reported to this object. */
  collected(query?: CollectedQuery): Promise<CollectedMetrics>;
  /** Gives the last refusals that were reported, newest first (rule Y6). */
  refusals(query: RefusalsQuery): Promise<readonly CollectedRefusal[]>;
}
