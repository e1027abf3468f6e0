import { describe, expect, it } from "vitest";
import type { MetricsReport } from "../../../../src/features/metrics/metrics-report.ts";
import { metricsLimits } from "../../../../src/features/metrics/limits.ts";
import { Counts } from "../../../../src/features/metrics/counts.ts";
import { MetricsReporter } from "../../../../src/features/metrics/reporter.ts";

/** An object that counts, with a clock and a collecting object that the test moves. */
class Measured {
  readonly counts = new Counts();
  readonly reporter: MetricsReporter;
  readonly reports: Omit<MetricsReport, "node">[] = [];
  nowMs = 1_000_000;
  clients = 0;
  #timer: { readonly atMs: number; readonly work: (nowMs: number) => void } | undefined;
  #answer: ((isTaken: boolean, nowMs: number) => void) | undefined;

  constructor() {
    this.reporter = new MetricsReporter(this.counts, {
      countOwn: () => this.counts.add("dormouse_object_calls_total"),
      gauges: () => [{ series: "centrifugo_node_num_clients", value: this.clients }],
      later: (waitMs, work) => {
        if (this.#timer !== undefined) throw new Error("a second timer");
        this.#timer = { atMs: this.nowMs + waitMs, work };
      },
      send: (report, done) => {
        this.reports.push(report);
        this.#answer = done;
      },
    });
  }

  /** Something happens, and is counted. */
  happen(): void {
    this.counts.add("dormouse_deliveries_total");
    this.reporter.check(this.nowMs);
  }

  get timerAtMs(): number | undefined {
    return this.#timer?.atMs;
  }

  ring(): void {
    const timer = this.#timer;
    if (timer === undefined) throw new Error("no timer is set");
    this.#timer = undefined;
    this.nowMs = timer.atMs;
    timer.work(this.nowMs);
  }

  answer(isTaken: boolean): void {
    this.#answer?.(isTaken, this.nowMs);
  }

  get reported(): readonly number[] {
    return this.reports.map(({ counters }) => {
      const found = counters.find(({ series }) => series === "dormouse_deliveries_total");
      return found?.added ?? 0;
    });
  }
}

describe("an object's reports", () => {
  it("[J2] come a second after the first count, and then once in ten seconds", () => {
    const object = new Measured();
    const beganMs = object.nowMs;
    object.happen();
    object.happen();
    expect(object.timerAtMs).toBe(beganMs + metricsLimits.metricsCollectMs);
    object.ring();
    object.answer(true);
    expect(object.reported).toStrictEqual([2]);
    expect(object.timerAtMs).toBeUndefined();
    object.nowMs += 100;
    object.happen();
    expect(object.timerAtMs).toBe(
      beganMs + metricsLimits.metricsCollectMs + metricsLimits.metricsReportMs,
    );
    object.ring();
    object.answer(true);
    expect(object.reported).toStrictEqual([2, 1]);
  });

  it("[J2] don't come from an idle object, which may sleep", () => {
    const object = new Measured();
    object.reporter.check(object.nowMs);
    expect(object.timerAtMs).toBeUndefined();
    object.happen();
    object.ring();
    object.answer(true);
    object.reporter.check(object.nowMs + 3_600_000);
    expect(object.timerAtMs).toBeUndefined();
  });

  it("[J2] go on with what was counted while one was under way", () => {
    const object = new Measured();
    object.happen();
    object.ring();
    object.happen();
    expect(object.timerAtMs).toBeUndefined();
    object.answer(true);
    expect(object.timerAtMs).toBe(object.nowMs + metricsLimits.metricsReportMs);
    object.ring();
    expect(object.reported).toStrictEqual([1, 1]);
  });

  it("[J7] aren't made where an answer has taken all counts, whose time counts as a report's", () => {
    const object = new Measured();
    object.happen();
    expect(object.reporter.nextReport(object.nowMs)?.counters).toContainEqual({
      series: "dormouse_deliveries_total",
      added: 1,
    });
    expect(object.reporter.nextReport(object.nowMs)).toBeUndefined();
    object.ring();
    expect(object.reports).toStrictEqual([]);
    object.nowMs += 1_000;
    object.happen();
    expect(object.timerAtMs).toBe(object.nowMs - 2_000 + metricsLimits.metricsReportMs);
  });

  it("[J2] aren't repeated if the collecting object is away, and keep nobody awake", () => {
    const object = new Measured();
    object.happen();
    object.ring();
    object.answer(false);
    expect(object.timerAtMs).toBeUndefined();
    object.happen();
    object.ring();
    expect(object.reported).toStrictEqual([1, 1]);
  });

  it("say how the gauges are then", () => {
    const object = new Measured();
    object.clients = 3;
    object.happen();
    object.clients = 5;
    object.ring();
    expect(object.reports[0]?.gauges).toStrictEqual([
      { series: "centrifugo_node_num_clients", value: 5 },
    ]);
  });
});
