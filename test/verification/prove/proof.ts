import { mkdirSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { HistoryEvent } from "../checker/history-event.ts";
import { Random } from "../../support/random.ts";
import { Clients } from "./clients/clients.ts";
import { FaultRunner } from "./faults/fault-runner.ts";
import { FaultMaker } from "./faults/fault-maker.ts";
import { makeWave, wavedChannels } from "./faults/wave.ts";
import { microseconds } from "./history/clock.ts";
import { Recorder } from "./history/recorder.ts";
import { FaultyNetwork } from "./network/faulty-network.ts";
import type { ProveOptions } from "./options.ts";
import { historiesIn } from "./run-facts.ts";
import { LastEvents } from "./last-events.ts";
import { uuidOfClient } from "../../../src/contract/object-names.ts";
import { isPushers, isReported } from "./scenario.ts";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { BankLoad } from "./bank/bank-load.ts";
import { ChangeLoad } from "./changes/change-load.ts";
import { CursorLoad } from "./cursor-load.ts";
import { notifyAfterMs, unreadMax } from "./cursor-scenario.ts";
import { GrowthLoad } from "./growth/growth-load.ts";
import { LastMarks } from "./last-marks.ts";
import { MapLoad } from "./map-load.ts";
import { OrderLoad } from "./order-load.ts";
import type { Target } from "./target.ts";
import { PublishLoad } from "./publish-load.ts";

/**
 * One run: real clients of a real server, faults between and inside them, and a history of all events.
 *
 * @param print takes sentences about the progress
 */
export class Proof {
  readonly #target: Target;
  readonly #options: ProveOptions;
  readonly #print: (text: string) => void;
  readonly #recorder: Recorder;
  readonly #files: { readonly backend: string; readonly clients: string };

  constructor(target: Target, options: ProveOptions, print: (text: string) => void) {
    this.#target = target;
    this.#options = options;
    this.#print = print;
    const { folder } = options;
    mkdirSync(folder, { recursive: true });
    this.#files = historiesIn(folder);
    for (const file of Object.values(this.#files)) rmSync(file, { force: true });
    this.#recorder = new Recorder(this.#files.backend);
  }

  /**
   * Rejects when the run couldn't be carried out, which says nothing about the server.
   *
   * @returns how long the run took; the history is on disk
   */
  async run(): Promise<{ readonly seconds: number }> {
    const { url, scenario } = this.#target;
    const { seed } = this.#options;
    const beganMs = performance.now();
    for (const { name, recovery, recoverable } of scenario.channels) {
      const known = recoverable === undefined ? {} : { recoverable };
      this.#record({ f: "channel", type: "info", channel: name, recovery, ...known });
    }
    for (const { name, mode, load, keyTtlMs } of scenario.maps) {
      const isCoded = load === "code";
      const judged = keyTtlMs === undefined ? { isCoded } : { isCoded, keyTtlMs };
      this.#record({ f: "map", type: "info", channel: name, mode, ...judged });
    }
    for (const { channel, audience } of scenario.cursors) {
      const options = { audience, notifyAfterMs, unreadMax } as const;
      this.#record({ f: "cursors", type: "info", channel, ...options });
    }
    this.#target.hooks?.recordTo(this.#recorder);
    this.#recordEvents();
    const subscribers = await FaultyNetwork.to(url, new Random(seed + 1));
    const publishers = await FaultyNetwork.to(url, new Random(seed + 2));
    try {
      await this.#withClients(subscribers, publishers);
    } finally {
      await subscribers.close();
      await publishers.close();
      await this.#target.hooks?.close();
      await this.#target.events?.close();
      await this.#recorder.end();
    }
    return { seconds: (performance.now() - beganMs) / 1_000 };
  }

  async #withClients(subscribers: FaultyNetwork, publishers: FaultyNetwork): Promise<void> {
    const { apiKey, tokenSecret, pingIntervalMs, scenario } = this.#target;
    const backend = { address: publishers.address, ...this.#hostHeader, apiKey };
    const { seed, pace } = this.#options;
    const maps = new MapLoad(backend, scenario.maps, new Random(seed + 9), this.#recorder);
    const texts = new GrowthLoad(backend, scenario.growing, new Random(seed + 11), this.#recorder);
    const banks = new BankLoad(backend, scenario.banks, new Random(seed + 12), this.#recorder);
    const changes = new ChangeLoad(
      backend,
      scenario.changed,
      new Random(seed + 13),
      this.#recorder,
    );
    const prepared = [maps, texts, banks, changes];
    await Promise.all(prepared.map((each) => each.prepare()));
    const clients = await Clients.start({
      historyFile: this.#files.clients,
      address: subscribers.address,
      ...this.#hostHeader,
      tokenSecret,
      pingIntervalMs,
      seed: seed + 3,
      recovers: Object.fromEntries(scenario.channels.map(({ name, recovery }) => [name, recovery])),
      subscribers: scenario.subscribers,
    });
    const random = new Random(seed + 4);
    const load = new PublishLoad(backend, scenario.channels, pace, random, this.#recorder);
    const orders = new OrderLoad(backend, scenario.users, new Random(seed + 6), this.#recorder);
    const asked = new Random(seed + 10);
    const cursors = new CursorLoad(backend, scenario.cursors, asked, this.#recorder);
    const { server, events } = this.#target;
    const last = server && new LastMarks(server, backend, scenario.cursors, this.#recorder);
    const loads = { load, orders, maps, cursors, texts, banks, changes };
    try {
      await cursors.prepare();
      for (const each of Object.values(loads)) each.start();
      await this.#breakThings(clients, loads, subscribers, publishers);
      this.#print("faults are over; waiting until all has settled");
      this.#target.hooks?.settle();
      await orders.stop();
      await Promise.all([load, maps, cursors, texts, banks, changes].map((each) => each.stop()));
      await clients.settle();
      await pause(this.#settleMs / 2);
      await last?.mark();
      await pause(this.#settleMs / 2);
      await maps.read();
      await texts.read();
      await banks.read();
      await changes.read();
      this.#record({ f: "settled", type: "info" });
      await cursors.read();
      await last?.list();
      for (const channel of scenario.channels) {
        const { name } = channel;
        const present = await load.publisher.presence(name);
        const known = isPushers(channel) ? present.map(uuidOfClient) : present;
        this.#record({ f: "presence", type: "ok", channel: name, clients: known });
      }
    } catch (error) {
      // After an error the rest of the run has no value.
      this.#recorder.abandon();
      await clients.end().catch(() => undefined);
      throw error;
    } finally {
      for (const each of Object.values(loads)) each.close();
      last?.close();
    }
    await clients.end();
    if (server === undefined || events === undefined) return;
    await new LastEvents(server, events, this.#target).await((what) => {
      this.#record({ f: "told", type: "info", what });
    });
  }

  /** Says of what the receiver of events is told, and lets it record what it takes. */
  #recordEvents(): void {
    const { events, scenario } = this.#target;
    if (events === undefined) return;
    const channels = scenario.channels.filter(isReported).map(({ name }) => name);
    this.#record({ f: "events", type: "info", channels, keepMax: eventLimits.eventsKeepDefault });
    events.recordTo(this.#recorder);
  }

  /** Injects faults until enough time has passed and enough publications were delivered. */
  async #breakThings(
    clients: Clients,
    loads: Loads,
    subscribers: FaultyNetwork,
    publishers: FaultyNetwork,
  ): Promise<void> {
    const { load, maps, texts } = loads;
    const { server, hooks, events, gateways, homes, scenario } = this.#target;
    const { seed, seconds, faults } = this.#options;
    const wave = {
      address: subscribers.address,
      ...this.#hostHeader,
      tokenSecret: this.#target.tokenSecret,
      channels: wavedChannels(scenario.channels),
    };
    const maker = new FaultMaker({
      subscribers,
      publishers,
      ...(server === undefined ? {} : { server }),
      ...(hooks === undefined ? {} : { hooks }),
      ...(events === undefined ? {} : { events }),
      channels: [
        ...[...scenario.channels, ...scenario.maps].map(({ name }) => name),
        ...scenario.growing,
        ...scenario.changed,
        ...scenario.cursors.map(({ receipts }) => receipts),
      ],
      gateways,
      homes,
      burst: (channel) => load.burst(channel),
      quiet: load.quiet,
      stir: (channel) => maps.stir(channel),
      still: maps.still,
      growing: scenario.growing,
      untilGrown: (channel) => texts.untilGrown(channel),
      wave: (random) => makeWave(wave, random),
      crashing: (channel) => this.#record({ f: "crash", type: "info", channel }),
    });
    const timeline = new FaultRunner(maker, faults, seed + 5, (fault) => {
      this.#recorder.record(fault);
    });
    const running = timeline.run();
    const endMs = performance.now() + seconds * 1_000;
    const isOver = new AbortController();
    const failed = running.catch(() => isOver.abort());
    try {
      const failures = () =>
        [...Object.values(loads), hooks, events].flatMap((each) => each?.failures ?? []);
      await this.#watch(clients, failures, endMs, isOver.signal);
    } finally {
      timeline.stop();
      await failed;
    }
    await running;
  }

  /**
   * Waits until enough time has passed and enough publications were delivered. Rejects with the first failure of a
   * client, or of those that the function gives.
   */
  async #watch(
    clients: Clients,
    failures: () => readonly string[],
    endMs: number,
    isOver: AbortSignal,
  ): Promise<void> {
    const { deliveries } = this.#options;
    for (let printedMs = performance.now(); !isOver.aborted; await pause(500)) {
      const progress = await clients.progress();
      const [failure] = [...progress.failures, ...failures()];
      if (failure !== undefined) throw new Error(failure);
      if (performance.now() >= endMs && progress.deliveries >= deliveries) break;
      if (performance.now() - printedMs < printedEveryMs) continue;
      printedMs = performance.now();
      this.#print(
        `${progress.deliveries} deliveries, ${progress.subscribed} of ${progress.wanted} subscriptions`,
      );
    }
  }

  /** A deployed server's host name, for clients that connect to a proxy. */
  get #hostHeader(): { readonly hostHeader?: string } {
    return this.#target.server === undefined ? { hostHeader: this.#target.url.host } : {};
  }

  /**
   * How long the guarantees may take to hold again: a gateway gets entries that a crash delayed within 8 s (rule L4),
   * and a socket whose client vanished is found when it has been silent for two ping intervals and 10 s (rules K2, K4).
   */
  get #settleMs(): number {
    return 10_000 + 2 * this.#target.pingIntervalMs + 2_000;
  }

  #record(event: Unmarked<HistoryEvent>): void {
    this.#recorder.record({ ...event, process: "prove", time: microseconds() });
  }
}

/** What backends do meanwhile. */
interface Loads {
  readonly load: PublishLoad;
  readonly orders: OrderLoad;
  readonly maps: MapLoad;
  readonly cursors: CursorLoad;
  readonly texts: GrowthLoad;
  readonly banks: BankLoad;
  readonly changes: ChangeLoad;
}

/** An event of any kind without its process and time. */
type Unmarked<Each> = Each extends HistoryEvent ? Omit<Each, "process" | "time"> : never;

const printedEveryMs = 10_000;
