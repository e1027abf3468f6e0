import type {
  CollectedMetrics,
  CollectedQuery,
  GaugeValue,
  HistogramAddition,
  MetricsReport,
  ObjectPast,
  PastPoint,
} from "./metrics-report.ts";
import { metricsLimits } from "./limits.ts";
import { columnText, hasTable, type Sql } from "../../sql.ts";
import { DayMark } from "./day-mark.ts";
import { HourMarks } from "./hour-marks.ts";
import { PastHour } from "./past-hour.ts";

/**
 * All that was reported to one collecting object: counters and histograms since the first report, and the gauges of each
 * object as it last reported them. They are stored in a few rows, so that counters don't begin anew when the object
 * sleeps.
 */
export class Totals {
  readonly #sql: Sql;
  #counters = new Map<string, number>();
  #histograms = new Map<string, ReportedHistogram>();
  readonly #nodes = new Map<string, Node>();
  /** How many objects each stored row of gauges has. */
  readonly #rowSizes: number[] = [];
  readonly #changedRows = new Set<number>();
  #changed = false;
  #hasTable: boolean;
  readonly #marks: HourMarks;
  readonly #day: DayMark;
  #past = new PastHour(undefined, 0);
  /** When something was last reported, ms since 1970; 0 for never. */
  #reportedMs = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#hasTable = hasTable(sql, "metrics");
    this.#marks = new HourMarks(sql);
    this.#day = new DayMark(sql);
    if (this.#hasTable) this.#load();
  }

  /** Adds a report to the totals. */
  addReport(report: MetricsReport, nowMs: number): void {
    const { node, counters, histograms, gauges, carried = [] } = report;
    this.#marks.note(this.#counters, this.#reportedMs === 0 ? nowMs : this.#reportedMs, nowMs);
    this.#day.note(this.#counters, this.#reportedMs, nowMs);
    this.#past.add(report, this.#plottedGauges, nowMs);
    this.#reportedMs = nowMs;
    for (const { series, added } of counters) this.#count(series, added);
    for (const one of histograms) this.#observe(one);
    if (node !== "") this.#note(node, gauges, nowMs);
    for (const one of carried) this.#note(one.node, one.gauges, nowMs);
  }

  /** Whether something isn't stored yet. */
  get unstored(): boolean {
    return this.#changed || this.#changedRows.size > 0;
  }

  /** Stores what has changed. */
  store(): void {
    if (!this.#hasTable)
      this.#sql.run("CREATE TABLE metrics (part INTEGER PRIMARY KEY, text TEXT)");
    this.#hasTable = true;
    if (this.#changed) {
      const past = this.#past.stored;
      this.#write(0, { ...this.#counted(), reportedMs: this.#reportedMs, past });
    }
    for (const row of this.#changedRows) {
      const nodes = [...this.#nodes].filter(([, node]) => node.row === row);
      this.#write(
        row + 1,
        nodes.map(([name, { gauges, atMs }]): StoredNode => [name, atMs, gauges]),
      );
    }
    this.#changed = false;
    this.#changedRows.clear();
  }

  /** All totals. The gauges of objects that have reported nothing for `limits.metricsGaugeMs` aren't among them. */
  collected(nowMs: number, query: CollectedQuery = {}): CollectedMetrics {
    for (const [name, node] of this.#nodes)
      if (Math.abs(nowMs - node.atMs) > metricsLimits.metricsGaugeMs) this.#forget(name, node);
    return {
      ...this.#counted(),
      gauges: [...this.#gaugeSums()].map(([series, value]) => ({ series, value })),
      hourAgo: this.#marks.hourAgo(this.#counters, this.#reportedMs, nowMs),
      today: this.#day.today(this.#counters, this.#reportedMs, nowMs),
      ...(query.past === true && { past: this.#past.past(this.#plottedGauges, nowMs) }),
    };
  }

  /** The gauges of all objects, added up. */
  #gaugeSums(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const node of this.#nodes.values())
      for (const { series, value } of node.gauges)
        sums.set(series, (sums.get(series) ?? 0) + value);
    return sums;
  }

  /** Those that the console plots. */
  readonly #plottedGauges = (): Pick<PastPoint, "clients" | "subscriptions" | "channels"> => {
    const sums = this.#gaugeSums();
    return {
      clients: sums.get("centrifugo_node_num_clients") ?? 0,
      subscriptions: sums.get("centrifugo_node_num_subscriptions") ?? 0,
      channels: sums.get("centrifugo_node_num_channels") ?? 0,
    };
  };

  #count(series: string, added: number): void {
    const total = this.#counters.get(series);
    if (total === undefined && this.#isFull()) return;
    this.#counters.set(series, (total ?? 0) + added);
    this.#changed = true;
  }

  #observe({ series, sum, counts }: HistogramAddition): void {
    const total = this.#histograms.get(series);
    if (total === undefined && this.#isFull()) return;
    // Another release may have other buckets: then its observations begin the series anew.
    const same = total?.counts.length === counts.length ? total : undefined;
    this.#histograms.set(series, {
      sum: (same?.sum ?? 0) + sum,
      counts: counts.map((count, bucket) => count + (same?.counts[bucket] ?? 0)),
    });
    this.#changed = true;
  }

  #isFull(): boolean {
    return this.#counters.size + this.#histograms.size >= metricsLimits.metricsSeriesMax;
  }

  #note(name: string, gauges: readonly GaugeValue[], nowMs: number): void {
    const known = this.#nodes.get(name);
    if (gauges.length === 0) {
      if (known !== undefined) this.#forget(name, known);
      return;
    }
    if (known === undefined && this.#nodes.size >= metricsLimits.metricsNodesMax) return;
    const row = known?.row ?? this.#rowWithRoom();
    this.#nodes.set(name, { gauges, atMs: nowMs, row });
    this.#changedRows.add(row);
  }

  #forget(name: string, { row }: Node): void {
    this.#nodes.delete(name);
    this.#rowSizes[row] = (this.#rowSizes[row] ?? 0) - 1;
    this.#changedRows.add(row);
  }

  #rowWithRoom(): number {
    const found = this.#rowSizes.findIndex((size) => size < nodesInRow);
    const row = found < 0 ? this.#rowSizes.length : found;
    this.#rowSizes[row] = (this.#rowSizes[row] ?? 0) + 1;
    return row;
  }

  #counted(): Pick<CollectedMetrics, "counters" | "histograms"> {
    return {
      counters: [...this.#counters].map(([series, added]) => ({ series, added })),
      histograms: [...this.#histograms].map(([series, { sum, counts }]) => ({
        series,
        sum,
        counts,
      })),
    };
  }

  #write(part: number, content: Counted | readonly StoredNode[]): void {
    this.#sql.run("INSERT OR REPLACE INTO metrics VALUES (?, ?)", part, JSON.stringify(content));
  }

  #load(): void {
    for (const row of this.#sql.rows("SELECT part, text FROM metrics ORDER BY part")) {
      const part = Number(row["part"]);
      const text = columnText(row, "text");
      if (part === 0) this.#loadCounted(text);
      else this.#loadNodes(part - 1, text);
    }
  }

  #loadCounted(text: string): void {
    const { counters, histograms, reportedMs, past }: Counted = JSON.parse(text);
    this.#reportedMs = reportedMs;
    this.#past = new PastHour(past, reportedMs);
    this.#counters = new Map(counters.map(({ series, added }) => [series, added]));
    this.#histograms = new Map(
      histograms.map(({ series, sum, counts }) => [series, { sum, counts }]),
    );
  }

  #loadNodes(row: number, text: string): void {
    const nodes: readonly StoredNode[] = JSON.parse(text);
    for (let empty = this.#rowSizes.length; empty < row; empty++) this.#rowSizes.push(0);
    this.#rowSizes[row] = nodes.length;
    for (const [name, atMs, gauges] of nodes) this.#nodes.set(name, { gauges, atMs, row });
  }
}

interface ReportedHistogram {
  readonly sum: number;
  readonly counts: readonly number[];
}

/** The gauges of one object. */
interface Node {
  readonly gauges: readonly GaugeValue[];
  /** When the object reported them, ms since 1970. */
  readonly atMs: number;
  /** The number of the row that stores them. */
  readonly row: number;
}

/** The stored counters and histograms, with the time of the last report and the past hour. */
type Counted = Pick<CollectedMetrics, "counters" | "histograms"> & {
  readonly reportedMs: number;
  /** Absent from a release that doesn't keep it. */
  readonly past?: ObjectPast;
};
type StoredNode = readonly [name: string, atMs: number, gauges: readonly GaugeValue[]];

/** About 150 KB: a row is written anew when one of its objects reports. */
const nodesInRow = 500;
