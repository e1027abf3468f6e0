import { DurableObject } from "cloudflare:workers";
import {
  type CollectedMetrics,
  type CollectedRefusal,
  type CollectorNews,
  edgeNode,
  type MetricsReport,
  type RefusalsQuery,
  type ReportTaken,
} from "../../src/contract/metrics-report.ts";
import type { MetricsCalls } from "../../src/contract/object-calls.ts";
import { collectorName } from "../../src/contract/object-names.ts";
import { liveCollector } from "../../src/contract/own-channel.ts";
import { limits } from "../../src/limits.ts";
import { LiveLease } from "../../src/metrics/live-lease.ts";
import { RefusalList } from "../../src/metrics/refusal-list.ts";
import { Totals } from "../../src/metrics/totals.ts";
import { closeSocket } from "../platform/close-socket.ts";
import type { Env } from "../platform/env.ts";
import { answerInTime } from "../platform/object-call.ts";
import { ObjectSql } from "../platform/object-sql.ts";
import { LiveChannel } from "./live-channel.ts";

/**
 * One of the objects that collect what others have counted and refused; `Totals` adds it up. It exists only where
 * `prometheus.enabled` or the console is on, and sleeps while nothing is counted anywhere and no operator looks.
 */
export class MetricsObject extends DurableObject<Env> implements MetricsCalls {
  /** Counts the rows written since the object woke; tests read the count. */
  readonly sql: ObjectSql;
  /** Calls made to other objects since the object woke; tests read it. */
  callsMade = 0;
  readonly #number: number;
  readonly #totals: Totals;
  readonly #refusals: RefusalList;
  readonly #lease = new LiveLease();
  /** Undefined for an object at which no operator looks. */
  readonly #live: LiveChannel | undefined;
  /** The refusals since the last message to the object that operators look at. */
  #untold: readonly CollectedRefusal[] = [];
  #tellsSoon = false;
  #storesSoon = false;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#number = Number(context.id.name ?? "");
    this.sql = new ObjectSql(context.storage);
    this.#totals = new Totals(this.sql);
    this.#refusals = new RefusalList(this.sql);
    if (this.#number === liveCollector)
      this.#live = new LiveChannel({
        context,
        collectors: env.METRICS,
        called: () => {
          this.callsMade++;
        },
        lookedAt: () => this.#lookedAt(),
      });
  }

  // The calls' contract is in src/contract/object-calls.ts.
  async report(report: MetricsReport): Promise<ReportTaken> {
    const nowMs = Date.now();
    this.#totals.add(report, nowMs);
    this.#analyse(report);
    const object = report.node === "" ? edgeNode : report.node;
    const refusals = (report.refusals ?? []).map((one) => Object.assign(one, { object }));
    this.#refusals.add(refusals);
    this.#storeSoon();
    if (this.#lease.isOn(nowMs)) this.#tellSoon(refusals);
    const nextInMs = this.#lease.nextReportInMs(nowMs);
    return nextInMs === undefined ? {} : { nextInMs };
  }

  async collected(): Promise<CollectedMetrics> {
    return this.#collected();
  }

  async refusals(query: RefusalsQuery): Promise<readonly CollectedRefusal[]> {
    return this.#refusals.last(query);
  }

  async lookedAt(): Promise<CollectedMetrics> {
    return this.#lookedAt();
  }

  async tell(news: CollectorNews): Promise<void> {
    this.#live?.take(news);
  }

  /** Takes over the socket of an operator's page, which the edge let through. */
  override async fetch(request: Request): Promise<Response> {
    return this.#live?.accept(request) ?? new Response("Not Found", { status: 404 });
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    this.#live?.message(socket, frame);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    closeSocket(socket, code, reason);
  }

  /** Whether everything is stored; tests wait for it. */
  get isStored(): boolean {
    return !this.#totals.unstored && !this.#refusals.unstored;
  }

  /** Whether no operator looks, and nothing is to be told or stored; tests wait for it. */
  get isIdle(): boolean {
    return this.isStored && !this.#tellsSoon && !this.#lease.isOn(Date.now());
  }

  #collected(): CollectedMetrics {
    const collected = this.#totals.collected(Date.now());
    this.#storeSoon();
    return collected;
  }

  #lookedAt(): CollectedMetrics {
    this.#lease.renew(Date.now());
    return this.#collected();
  }

  /** Tells the object that operators look at what was reported, a little later: with what comes until then. */
  #tellSoon(refusals: readonly CollectedRefusal[]): void {
    this.#untold = [...refusals, ...this.#untold].slice(0, limits.liveRefusalsMax);
    if (this.#tellsSoon) return;
    this.#tellsSoon = true;
    setTimeout(() => {
      this.#tellsSoon = false;
      void this.#tell();
    }, limits.liveCollectMs);
  }

  async #tell(): Promise<void> {
    const refusals = this.#untold;
    this.#untold = [];
    const news = { collector: this.#number, collected: this.#collected(), refusals };
    if (this.#live !== undefined) return this.#live.take(news);
    this.callsMade++;
    await answerInTime("news for the console", limits.metricsAnswerMs, () =>
      this.env.METRICS?.getByName(collectorName(liveCollector)).tell(news),
    );
  }

  /** Hands counters on to Analytics Engine, where the Worker has a dataset: a point for each, within the platform's bound. */
  #analyse({ counters }: MetricsReport): void {
    const { METRICS_DATASET: dataset } = this.env;
    if (dataset === undefined) return;
    for (const { series, added } of counters.slice(0, limits.metricsPointsMax)) {
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
    }, limits.metricsStoreMs);
  }
}
