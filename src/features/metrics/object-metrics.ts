import type { Refusal } from "../../access/refusal.ts";
import { LastRefusals } from "../../access/last-refusals.ts";
import type { CarriedReport } from "../../contract/channel-call.ts";
import type { GaugeValue, MetricsReport } from "./metrics-report.ts";
import { metricsLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import { type CounterName, seriesOf } from "./catalogue.ts";
import { CarriedGauges, collectorOf } from "./collectors.ts";
import { Counts } from "./counts.ts";
import { MetricsReporter } from "./reporter.ts";
import type { BackendQuestion, BackendReply } from "../../contract/backend-call.ts";
import type { ChannelSetup } from "../../channel/channel-setup.ts";
import { namespaceLabel } from "../../channel/channel-name.ts";
import type { SessionContext } from "../../session/ports.ts";
import { CountedSessions } from "./session-counts.ts";
import type { ObjectPart, PartHost } from "../../object/part.ts";
import type { GatewaySetup } from "../../gateway/gateway-setup.ts";
import { elapsed } from "../../moment.ts";
import type { ChannelCounts } from "../../channel/channel-outcomes.ts";
import { type CallCounts, ProcedureDriver } from "../procedures/procedure-driver.ts";
import type { MapCounts } from "../maps/map-outcomes.ts";

/** The counts of one object, and its reports (docs/metrics.md). It exists only where something is counted (rule J1). */
export class ObjectMetrics implements ObjectPart {
  readonly counts = new Counts();
  readonly #object: PartHost;
  readonly #reporter: MetricsReporter;
  /** Since the last report. */
  readonly #refusals = new LastRefusals(metricsLimits.metricsRefusalsMax);
  /** The gauges of other objects, for the next report. */
  readonly #carried = new CarriedGauges();
  /** The gauges as they were last handed on, and when, ms since 1970. */
  #gaugesText = "";
  #gaugesAtMs = 0;
  /** How many answers had counts in a second. */
  #second = 0;
  #answers = 0;
  /** Since the last report. */
  #alarms = 0;
  #callsOfChannels = 0;
  /** 1 until the first report. */
  #starts = 1;
  /** Up to where the object's own counts have been counted. */
  #counted = { rowsWritten: 0, callsMade: 0, atMs: 0 };
  /** The calls of the channel's code that have been counted, by their procedures. */
  readonly #countedCalls = new Map<string, CallCounts>();
  /** The part that counts the calls of the channel's code; undefined where there is no code, and before the first event. */
  #driver: ProcedureDriver | undefined;
  #hasLooked = false;

  constructor(object: PartHost) {
    this.#object = object;
    this.#counted.atMs = object.awakeSinceMs;
    this.#reporter = new MetricsReporter(this.counts, {
      countOwn: (atMs) => this.#countOwn(atMs),
      gauges: () => this.#gauges(),
      later: (waitMs, work) => object.later(waitMs, () => work(object.platform.nowMs())),
      send: (report, done) => this.#send(report, done),
    });
  }

  #send(
    report: Omit<MetricsReport, "node">,
    done: (isTaken: boolean, nowMs: number) => void,
  ): void {
    const { platform } = this.#object;
    const refusals = this.#refusals.drain();
    this.#noteGauges(report.gauges, platform.nowMs());
    const own = { node: this.#object.node, ...report, ...(refusals.length > 0 && { refusals }) };
    const collector = collectorOf(own.node);
    const carried = this.#carried.drain();
    const along = carried.get(collector);
    const full = along === undefined ? own : { ...own, carried: along };
    const { objectAnswerMs } = limits;
    // The object goes on when its own report has arrived; nobody waits for those that it carries for others.
    for (const [name, nodes] of carried) {
      if (name === collector) continue;
      const others = { node: "", counters: [], histograms: [], gauges: [], carried: nodes };
      platform.call("report", name, [others], objectAnswerMs, () => undefined);
    }
    platform.call("report", collector, [full], objectAnswerMs, (reply) =>
      done(reply.outcome === "answered", platform.nowMs()),
    );
  }

  /**
   * Takes the object's counts, for the answer to a caller that carries them (rule J7). Undefined if there are none, and
   * if the object has to report itself: because it holds sockets, to which something may still be sent, or because it
   * has refused something.
   */
  forAnswer(nowMs: number): CarriedReport | undefined {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) this.#answers = 0;
    this.#second = second;
    if (this.#answers >= metricsLimits.metricsRidesPerSecond) return undefined;
    if (!this.#object.sockets.empty || this.#refusals.last(1).length > 0) return undefined;
    this.#countProcedures();
    const taken = this.#reporter.nextReport(nowMs);
    if (taken === undefined) return undefined;
    this.#answers++;
    const { counters, histograms, gauges } = taken;
    const counted = { node: this.#object.node, counters, histograms };
    return this.#noteGauges(gauges, nowMs) ? { ...counted, gauges } : counted;
  }

  /** Whether the object can carry what another one has counted to its next report. */
  get carries(): boolean {
    return this.#carried.hasRoom;
  }

  /** Takes what came with the answer of a channel's object. */
  carry(counted: CarriedReport): void {
    this.counts.merge(counted);
    if (counted.gauges !== undefined) this.#carried.replace(counted.node, counted.gauges);
  }

  /** Notes the gauges that are handed on. @returns whether they have to be: they have changed, or it was long ago */
  #noteGauges(gauges: readonly GaugeValue[], nowMs: number): boolean {
    const text = JSON.stringify(gauges);
    const isKnown =
      text === this.#gaugesText &&
      !elapsed(this.#gaugesAtMs, metricsLimits.metricsGaugesAgainMs, nowMs);
    if (isKnown) return false;
    this.#gaugesText = text;
    this.#gaugesAtMs = nowMs;
    return true;
  }

  /** Counts a refusal, which the next report includes (rule Y6). */
  refused(refusal: Refusal, nowMs: number): void {
    const { refused, rule } = refusal;
    this.counts.add("dormouse_refusals_total", { refused, rule });
    this.#refusals.note(refusal, nowMs);
  }

  /** The part of a channel's setup with which it counts. */
  ofChannel(name: string): Pick<ChannelSetup, "counts"> {
    return {
      counts: channelCounts(this.counts, namespaceLabel(name, this.#object.config.channel)),
    };
  }

  /** The part of a session's setup with which it counts. */
  get ofSessions(): Pick<SessionContext, "counts"> {
    return { counts: new CountedSessions(this.counts, this.#object.config.channel) };
  }

  /** The part of a gateway's setup with which it counts. */
  readonly ofGateway: Pick<GatewaySetup, "deliveries"> = {
    deliveries: (channel) =>
      this.counts.counter("dormouse_deliveries_total", {
        channel_namespace: namespaceLabel(channel, this.#object.config.channel),
      }),
  };

  ended(nowMs: number): void {
    this.#countProcedures();
    this.#reporter.check(nowMs);
  }

  /** All frames that were on their way have been sent, after that time. */
  sent(seconds: number): void {
    this.counts.observe("dormouse_fan_out_seconds", seconds, { kind: this.#object.kind });
  }

  rang(): void {
    this.#alarms++;
  }

  /** A channel's object has called, which may have handed on its own counts before (rule J7). */
  calledByChannel(): void {
    this.#callsOfChannels++;
  }

  /** A backend was asked. */
  backendAnswered({ hook, target }: BackendQuestion, reply: BackendReply, seconds: number): void {
    const labels = { protocol: "http", type: hook, name: target };
    this.counts.observe("centrifugo_proxy_duration_seconds_histogram", seconds, labels);
    // A status of 4xx may have a meaning in the configuration.
    if (reply.outcome === "failed" || reply.status === 429 || reply.status >= 500)
      this.counts.add("centrifugo_proxy_errors", labels);
  }

  #gauges(): readonly GaugeValue[] {
    let [clients, subscriptions] = [0, 0];
    for (const session of this.#object.sockets.sessions()) {
      if (!session.hasConnected) continue;
      clients++;
      subscriptions += session.subscriptions.size;
    }
    const gauges: readonly GaugeValue[] = [
      { series: seriesOf("centrifugo_node_num_clients"), value: clients },
      { series: seriesOf("centrifugo_node_num_subscriptions"), value: subscriptions },
      { series: seriesOf("centrifugo_node_num_channels"), value: this.#object.channelCount() },
    ];
    return gauges.filter(({ value }) => value !== 0);
  }

  #countOwn(nowMs: number): void {
    const kind = { kind: this.#object.kind };
    const { rowsWritten } = this.#object.platform.sql;
    const callsMade = this.#object.billedCalls;
    const before = this.#counted;
    const added: readonly (readonly [CounterName, number])[] = [
      ["dormouse_object_starts_total", this.#starts],
      ["dormouse_object_alarms_total", this.#alarms],
      ["dormouse_object_rows_written_total", rowsWritten - before.rowsWritten],
      ["dormouse_object_calls_total", callsMade - before.callsMade],
      ["dormouse_object_awake_seconds_total", Math.max(0, nowMs - before.atMs) / 1_000],
    ];
    for (const [name, value] of added) this.counts.add(name, kind, value);
    this.counts.add("dormouse_object_calls_total", { kind: "channel" }, this.#callsOfChannels);
    this.#callsOfChannels = 0;
    this.#counted = { rowsWritten, callsMade, atMs: nowMs };
    this.#starts = 0;
    this.#alarms = 0;
  }

  /** Counts what became of the calls of the channel's code. A procedure's name is in the code, so there are few. */
  #countProcedures(): void {
    if (!this.#hasLooked) this.#driver = this.#object.part(ProcedureDriver);
    this.#hasLooked = true;
    if (this.#driver === undefined) return;
    const { knownChannel = "", config } = this.#object;
    for (const [procedure, calls] of this.#driver.counts) {
      const before = this.#countedCalls.get(procedure);
      const labels = { procedure, channel_namespace: namespaceLabel(knownChannel, config.channel) };
      const { slow, ...outcomes } = calls;
      for (const outcome of ["done", "repeated", "rejected", "refused", "threw"] as const) {
        const added = outcomes[outcome] - (before?.[outcome] ?? 0);
        if (added > 0)
          this.counts.add("dormouse_procedure_calls_total", { outcome, ...labels }, added);
      }
      const slower = slow - (before?.slow ?? 0);
      if (slower > 0) this.counts.add("dormouse_procedure_slow_total", labels, slower);
      this.#countedCalls.set(procedure, { ...calls });
    }
  }
}

/** The counts of an object; undefined where nothing is counted. */
export function newObjectMetrics(object: PartHost): ObjectMetrics | undefined {
  return object.config.prometheus.counts ? new ObjectMetrics(object) : undefined;
}

/**
 * Counts one channel's publications with those of all channels of its namespace (docs/metrics.md).
 *
 * @param namespace of the channel; "" for none
 */
export function channelCounts(counts: Counts, namespace: string): ChannelCounts {
  const labels = { channel_namespace: namespace };
  const suppressed = (reason: string) =>
    counts.counter("centrifugo_broker_publish_suppressed_count", { reason, ...labels });
  return {
    published: counts.counter("centrifugo_node_messages_sent_count", {
      type: "publication",
      ...labels,
    }),
    repeated: suppressed("idempotency"),
    outdated: suppressed("version"),
    deliveries: counts.counter("dormouse_deliveries_total", labels),
    gatewayChanges: counts.counter("dormouse_gateway_changes_total", labels),
    ofMap: () => mapCounts(counts, labels),
  };
}

function mapCounts(counts: Counts, labels: { readonly channel_namespace: string }): MapCounts {
  const change = (kind: string) =>
    counts.counter("dormouse_map_changes_total", { kind, ...labels });
  const changes = {
    map_publish: change("publish"),
    map_remove: change("remove"),
    map_append: change("append"),
  };
  const windows = counts.counter("dormouse_map_append_windows_total", labels);
  const ends = counts.counter("centrifugo_map_broker_cleanup_removed_count", labels);
  return {
    changed: (method) => void changes[method].value++,
    suppressed: (method, reason) => counts.add(suppressions[method], { reason, ...labels }),
    ended: () => void ends.value++,
    windowEnded: () => void windows.value++,
  };
}

const suppressions = {
  map_publish: "centrifugo_map_broker_publish_suppressed_count",
  map_remove: "centrifugo_map_broker_remove_suppressed_count",
  map_append: "dormouse_map_append_suppressed_total",
} as const;
