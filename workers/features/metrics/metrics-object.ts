import { DurableObject } from "cloudflare:workers";
import {
  type CollectedMetrics,
  type CollectedQuery,
  type CollectedRefusal,
  edgeNode,
  type MetricsReport,
  type RefusalsQuery,
  type MetricsCalls,
} from "../../../src/features/metrics/metrics-report.ts";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import { RefusalList } from "../../../src/features/metrics/refusal-list.ts";
import { Totals } from "../../../src/features/metrics/totals.ts";
import type { Env } from "../../platform/env.ts";
import { ObjectSql } from "../../platform/object-sql.ts";

/**
 * One of the objects that collect what others have counted and refused; `Totals` adds it up. It exists only where
 * `prometheus.enabled` or the console is on, and sleeps while nothing is counted anywhere.
 */
export class MetricsObject extends DurableObject<Env> implements MetricsCalls {
  /** Counts the rows written since the object woke; tests read the count. */
  readonly sql: ObjectSql;
  readonly #totals: Totals;
  readonly #refusals: RefusalList;
  #storesSoon = false;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.sql = new ObjectSql(context.storage);
    this.#totals = new Totals(this.sql);
    this.#refusals = new RefusalList(this.sql);
  }

  // The calls' contract is in src/contract/object-calls.ts.
  async report(report: MetricsReport): Promise<void> {
    this.#totals.addReport(report, Date.now());
    this.#analyse(report);
    const object = report.node === "" ? edgeNode : report.node;
    const refusals = (report.refusals ?? []).map((one) => Object.assign(one, { object }));
    this.#refusals.append(refusals);
    this.#storeSoon();
  }

  async collected(query?: CollectedQuery): Promise<CollectedMetrics> {
    const collected = this.#totals.collected(Date.now(), query);
    this.#storeSoon();
    return collected;
  }

  async refusals(query: RefusalsQuery): Promise<readonly CollectedRefusal[]> {
    return this.#refusals.last(query);
  }

  /** Whether everything is stored; tests wait for it. */
  get isStored(): boolean {
    return !this.#totals.unstored && !this.#refusals.unstored;
  }

  /** Hands counters on to Analytics Engine, where the Worker has a dataset: a point for each, within the platform's bound. */
  #analyse({ counters }: MetricsReport): void {
    const { METRICS_DATASET: dataset } = this.env;
    if (dataset === undefined) return;
    for (const { series, added } of counters.slice(0, metricsLimits.metricsPointsMax)) {
      const [name = ""] = series.split("{", 1);
      dataset.writeDataPoint({ indexes: [name], blobs: [series], doubles: [added] });
    }
  }

  /** Stores what has changed, a little later: what comes until then is in the same rows. */
  #storeSoon(): void {
    if (this.#storesSoon || this.isStored) return;
    this.#storesSoon = true;
    setTimeout(() => {
      this.#storesSoon = false;
      this.#totals.store();
      this.#refusals.store();
    }, metricsLimits.metricsStoreMs);
  }
}
