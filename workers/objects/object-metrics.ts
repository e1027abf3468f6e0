import type { GaugeValue } from "../../src/contract/metrics-report.ts";
import type { CounterName } from "../../src/metrics/catalogue.ts";
import { Counts } from "../../src/metrics/counts.ts";
import { MetricsReporter } from "../../src/metrics/reporter.ts";
import type { Env } from "../platform/env.ts";
import { reportMetrics } from "../platform/metrics-report.ts";

/** What one object counts, and its reports (docs/metrics.md). It exists only where `prometheus.enabled` is on. */
export class ObjectMetrics {
  readonly counts = new Counts();
  readonly #object: MeasuredObject;
  readonly #reporter: MetricsReporter;
  /** Since the last report. */
  #alarms = 0;
  /** 1 until the first report. */
  #starts = 1;
  /** Up to where the object's own counts have been counted. */
  #counted = { rowsWritten: 0, callsMade: 0, atMs: 0 };

  constructor(object: MeasuredObject, nowMs: number) {
    this.#object = object;
    this.#counted.atMs = nowMs;
    this.#reporter = new MetricsReporter(this.counts, {
      countOwn: (atMs) => this.#countOwn(atMs),
      gauges: () => object.gauges(),
      later: (waitMs, work) => object.later(waitMs, () => work(Date.now())),
      send: (report, done) => {
        void reportMetrics(object.collectors(), { node: object.node(), ...report }).then(
          (isTaken) => done(isTaken, Date.now()),
        );
      },
    });
  }

  /** To be called at the end of every event. */
  check(nowMs: number): void {
    this.#reporter.check(nowMs);
  }

  /** The object's alarm has rung. */
  alarmRang(): void {
    this.#alarms++;
  }

  #countOwn(nowMs: number): void {
    const kind = { kind: this.#object.kind() };
    const { rowsWritten, callsMade } = this.#object.billed();
    const before = this.#counted;
    const added: readonly (readonly [CounterName, number])[] = [
      ["dormouse_object_starts_total", this.#starts],
      ["dormouse_object_alarms_total", this.#alarms],
      ["dormouse_object_rows_written_total", rowsWritten - before.rowsWritten],
      ["dormouse_object_calls_total", callsMade - before.callsMade],
      ["dormouse_object_awake_seconds_total", (nowMs - before.atMs) / 1_000],
    ];
    for (const [name, value] of added) this.counts.add(name, kind, value);
    this.#counted = { rowsWritten, callsMade, atMs: nowMs };
    this.#starts = 0;
    this.#alarms = 0;
  }
}

/** The object that is measured. */
interface MeasuredObject {
  kind(): "channel" | "gateway";
  node(): string;
  collectors(): Env["METRICS"];
  /** What the platform bills, since the object woke. */
  billed(): { readonly rowsWritten: number; readonly callsMade: number };
  gauges(): readonly GaugeValue[];
  later(waitMs: number, work: () => void): void;
}
