/** The bounds of metrics (rule B1). */
export const metricsLimits = {
  /**
   * How often an object, or an isolate of the edge, reports what it has counted. Each report is a call, which wakes an
   * object that collects.
   */
  metricsReportMs: 10_000,
  /** How long the first thing that is counted waits for others before it is reported. */
  metricsCollectMs: 1_000,
  /** How often a collecting object stores its totals: a row, and another one for 500 objects with gauges. */
  metricsStoreMs: 10_000,
  /** Objects that collect, each a share of all reports: an object answers about a thousand calls a second. */
  metricsCollectors: 4,
  /**
   * Series that one collecting object keeps, about 100 bytes each. The configuration bounds them; further ones, of which
   * only another release knows, aren't kept.
   */
  metricsSeriesMax: 20_000,
  /** Objects whose gauges one collecting object keeps, about 300 bytes each. Further ones are missing from gauges. */
  metricsNodesMax: 20_000,
  /** For how long the gauges of an object count that doesn't report: it may have crashed with its connections. */
  metricsGaugeMs: 86_400_000,
  /**
   * Counters of one report that go to Analytics Engine, which takes 250 points of an event. Further ones are missing
   * there.
   */
  metricsPointsMax: 250,
  /** How often a collecting object keeps how its counters are, for the console's last hour: a row of some 10 KB each. */
  metricsMarkMs: 600_000,
  /**
   * The interval of a point of the past hour, for the console's plots: 31 points of some 200 bytes, in a row that is
   * stored anyway. It has about 12 reports of an object, so that one more or less is no peak (rule J10).
   */
  metricsPlotMs: 120_000,
  /**
   * Answers a second with which a channel's object hands on its counts. The counts of a busier one wait for its next
   * answer, or for its own report.
   */
  metricsRidesPerSecond: 10,
  /** How often an answer says how the gauges are that haven't changed, as they count for `metricsGaugeMs` only. */
  metricsGaugesAgainMs: 21_600_000,
  /** Objects whose gauges an isolate or a gateway carries to its next report. Further ones report themselves. */
  metricsCarriedMax: 500,
  /**
   * Refusals that one report has at most, the newest: with 256 characters of each text about 10 KB. An isolate of the
   * edge remembers no others.
   */
  metricsRefusalsMax: 20,
  /** How long a scrape waits for the objects that collect. */
  metricsAnswerMs: 3_000,
} as const;
