import type { Refusal } from "../../src/access/refusal.ts";
import { RefusalTrail } from "../../src/access/refusal-trail.ts";
import type { GaugeValue, MetricsReport, ReportTaken } from "../../src/contract/metrics-report.ts";
import { limits } from "../../src/limits.ts";
import { type CounterName, seriesOf } from "../../src/metrics/catalogue.ts";
import { Counts } from "../../src/metrics/counts.ts";
import { MetricsReporter } from "../../src/metrics/reporter.ts";
import type { HookQuestion, HookReply } from "../../src/contract/hook-call.ts";
import type { ChannelSetup } from "../../src/channel/channel-setup.ts";
import { channelCounts } from "../../src/channel/channel-counts.ts";
import { namespaceLabel } from "../../src/channel/channel-name.ts";
import type { ChannelConfig } from "../../src/config/config.ts";
import type { SessionContext } from "../../src/session/ports.ts";
import { SessionCounts } from "../../src/session/session-counts.ts";
import type { Session } from "../../src/session/session.ts";
import type { Env } from "../platform/env.ts";
import { reportMetrics } from "../platform/metrics-report.ts";

/** What one object counts, and its reports (docs/metrics.md). It exists only where `prometheus.enabled` is on. */
export class ObjectMetrics {
  readonly counts = new Counts();
  readonly #object: MeasuredObject;
  readonly #reporter: MetricsReporter;
  /** Since the last report. */
  readonly #refusals = new RefusalTrail(limits.metricsRefusalsMax);
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
      gauges: () => this.#gauges(),
      later: (waitMs, work) => object.later(waitMs, () => work(Date.now())),
      send: (report, done) => void this.#send(report, done),
    });
  }

  async #send(
    report: Omit<MetricsReport, "node">,
    done: (taken: ReportTaken | undefined, nowMs: number) => void,
  ): Promise<void> {
    const collectors = this.#object.collectors();
    const refusals = this.#refusals.take();
    const taken = await reportMetrics(collectors, {
      node: this.#object.node(),
      ...report,
      ...(refusals.length > 0 && { refusals }),
    });
    done(taken, Date.now());
  }

  /** Counts a refusal, which the next report tells (rule Y6). */
  refused(refusal: Refusal, nowMs: number): void {
    const { refused, rule } = refusal;
    this.counts.add("dormouse_refusals_total", { refused, rule });
    this.#refusals.note(refusal, nowMs);
  }

  /** What a channel needs to count. */
  ofChannel(name: string): Pick<ChannelSetup, "counts"> {
    return { counts: channelCounts(this.counts, namespaceLabel(name, this.#object.channels)) };
  }

  /** What sessions need to count. */
  get ofSessions(): Pick<SessionContext, "counts"> {
    return { counts: new SessionCounts(this.counts, this.#object.channels) };
  }

  /** To be called at the end of every event. */
  check(nowMs: number): void {
    this.#reporter.check(nowMs);
  }

  /** The object's alarm has rung. */
  alarmRang(): void {
    this.#alarms++;
  }

  /** A backend was asked. */
  backendAnswered({ hook, target }: HookQuestion, { outcome }: HookReply, seconds: number): void {
    const labels = { protocol: "http", type: hook, name: target };
    this.counts.observe("centrifugo_proxy_duration_seconds_histogram", seconds, labels);
    if (outcome === "failed") this.counts.add("centrifugo_proxy_errors", labels);
  }

  #gauges(): readonly GaugeValue[] {
    const isOccupied = this.#object.isOccupied();
    let [clients, subscriptions] = [0, 0];
    for (const session of this.#object.sessions()) {
      if (!session.hasConnected) continue;
      clients++;
      subscriptions += session.subscriptions.size;
    }
    const gauges: readonly GaugeValue[] = [
      { series: seriesOf("centrifugo_node_num_clients"), value: clients },
      { series: seriesOf("centrifugo_node_num_subscriptions"), value: subscriptions },
      { series: seriesOf("centrifugo_node_num_channels"), value: isOccupied ? 1 : 0 },
    ];
    return gauges.filter(({ value }) => value !== 0);
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
  readonly channels: ChannelConfig;
  kind(): "channel" | "gateway";
  node(): string;
  collectors(): Env["METRICS"];
  /** What the platform bills, since the object woke. */
  billed(): { readonly rowsWritten: number; readonly callsMade: number };
  sessions(): Iterable<Session>;
  /** Whether it is a channel's, which has subscribers here or on gateways. */
  isOccupied(): boolean;
  later(waitMs: number, work: () => void): void;
}
