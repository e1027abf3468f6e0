import type { GaugeValue, MetricsReport } from "./metrics-report.ts";
import { metricsLimits } from "./limits.ts";
import type { Counts } from "./counts.ts";

/**
 * Reports the counts of an object to an object that collects them. The first report comes a second after the first
 * count, so that counts that come together share it. The next ones come once in `limits.metricsReportMs` while there is
 * something new. The object can't hibernate while a report is due, so hibernation loses nothing; an idle object reports
 * nothing. Every change of a gauge is counted, too, so a report has the current value of all gauges.
 */
export class MetricsReporter {
  readonly #counts: Counts;
  readonly #port: ReporterPort;
  #isDue = false;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(counts: Counts, port: ReporterPort) {
    this.#counts = counts;
    this.#port = port;
  }

  /** To be called at the end of every event. */
  check(nowMs: number): void {
    if (this.#isDue || !this.#counts.any) return;
    this.#isDue = true;
    const leftMs = Math.min(
      this.#lastMs + metricsLimits.metricsReportMs - nowMs,
      metricsLimits.metricsReportMs,
    );
    const waitMs = Math.max(leftMs, metricsLimits.metricsCollectMs);
    this.#port.later(waitMs, (dueMs) => this.#report(dueMs));
  }

  /**
   * Takes the next report, for a caller that carries it with its own (rule J7): then no report is due. Undefined if
   * nothing was counted.
   */
  nextReport(nowMs: number): Omit<MetricsReport, "node"> | undefined {
    if (!this.#counts.any) return undefined;
    this.#port.countOwn(nowMs);
    this.#lastMs = nowMs;
    return { ...this.#counts.drain(), gauges: this.#port.gauges() };
  }

  #report(nowMs: number): void {
    if (!this.#counts.any) {
      this.#isDue = false;
      return;
    }
    this.#port.countOwn(nowMs);
    const gauges = this.#port.gauges();
    this.#lastMs = nowMs;
    this.#port.send({ ...this.#counts.drain(), gauges }, (isTaken, answeredMs) => {
      this.#isDue = false;
      // A report that failed may have been taken, so it isn't repeated. The next event makes another one, so that a
      // collecting object that is away keeps nobody awake.
      if (isTaken) this.check(answeredMs);
    });
  }
}

interface ReporterPort {
  /** Counts what the object needn't count while it happens. This alone is no reason for a report. */
  countOwn(nowMs: number): void;
  /** The gauges that aren't 0, in an order that stays the same. */
  gauges(): readonly GaugeValue[];
  /** Does the work after so many ms; the object can't hibernate before. */
  later(waitMs: number, work: (nowMs: number) => void): void;
  /**
   * Makes the call.
   *
   * @param done called with whether the collecting object has answered
   */
  send(report: Omit<MetricsReport, "node">, done: (isTaken: boolean, nowMs: number) => void): void;
}
