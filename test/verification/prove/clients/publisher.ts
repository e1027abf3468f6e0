import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../support/random.ts";
import type { Recorder } from "../history/recorder.ts";
import { type BackendAddress, BackendCalls } from "./backend-call.ts";
import { SerialPublisher, type PublisherTraits } from "./serial-publisher.ts";

export interface PublisherPlan extends BackendAddress, Omit<PublisherTraits, "payloadBytes"> {
  /** A whole number that seeds all random choices. */
  readonly seed: number;
  /** The serial publishers `p1`, `p2`, …, each with one publish in progress at a time. */
  readonly serial: readonly SerialPublisherPlan[];
}

export interface SerialPublisherPlan {
  /** Each publish goes to one of these channels, drawn at random. */
  readonly channels: readonly string[];
  readonly payloadBytes: number;
  /** Publishes a second; fewer where answers are slow; 0 for none. */
  readonly perSecond: number;
}

/** A backend that publishes through the HTTP API and repeats publishes of unknown outcome. */
export class Publisher {
  readonly #plan: PublisherPlan;
  readonly #recorder: Recorder;
  readonly #calls: BackendCalls;
  readonly #random: Random;
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** Serial publishers of finished bursts, for the next burst. */
  readonly #idle: SerialPublisher[] = [];
  /** Failures that no repetition can fix, in sentences. Their serial publishers have ended. */
  readonly failures: string[] = [];
  /** Multiplies the rates of all serial publishers. */
  pace = 1;
  #burstPublishers = 0;

  /** @param recorder of a history that other parts of this process write too; it isn't ended here */
  constructor(plan: PublisherPlan, recorder: Recorder) {
    this.#plan = plan;
    this.#recorder = recorder;
    this.#calls = new BackendCalls(plan);
    this.#random = new Random(plan.seed);
  }

  /** Starts publishing steadily. */
  start(): void {
    for (const [index, plan] of this.#plan.serial.entries()) {
      const publisher = this.#newSerialPublisher(`p${index + 1}`, plan.payloadBytes);
      void this.#watch(this.#publishSteadily(publisher, plan));
    }
  }

  /**
   * Publishes so many times to a channel as fast as possible, several at a time. Resolves when all publishes are
   * answered or given up.
   */
  async burst(channel: string, count: number, concurrency: number): Promise<void> {
    let left = count;
    const one = async (): Promise<void> => {
      const publisher =
        this.#idle.pop() ??
        this.#newSerialPublisher(`b${++this.#burstPublishers}`, burstPayloadBytes);
      while (left-- > 0 && !this.#isStopping) await publisher.publish(channel);
      this.#idle.push(publisher);
    };
    const publishers = Array.from({ length: concurrency }, () => this.#watch(one()));
    await Promise.all(publishers);
  }

  /**
   * Begins no further publish. Resolves when all publishes are answered or given up; rejects when one failed for good.
   * Presence can be read afterwards.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#underWay);
    if (this.failures.length > 0) throw new Error(this.failures.join("\n"));
  }

  /** The IDs of the connections that are present. Rejects when the list was incomplete three times. */
  async presence(channel: string): Promise<readonly string[]> {
    let why = "";
    for (let attempt = 1; attempt <= 3; attempt++) {
      const called = await this.#calls.call("presence", { channel });
      if (called.outcome === "wrong") throw new Error(`presence of ${channel}: ${called.problem}`);
      if (called.outcome === "result") {
        const { presence, incomplete }: Present = called.result;
        if (presence === undefined) throw new Error(`presence of ${channel} has no presence field`);
        if (incomplete !== true) return Object.keys(presence);
      }
      why = called.outcome === "result" ? "incomplete" : called.outcome;
      await pause(attempt * 1_000);
    }
    throw new Error(`presence of ${channel} was asked three times, and at last ${why}`);
  }

  /** Closes the connections. No call may follow. */
  close(): void {
    this.#calls.close();
  }

  async #publishSteadily(
    publisher: SerialPublisher,
    { channels, perSecond }: SerialPublisherPlan,
  ): Promise<void> {
    let nextMs = performance.now();
    while (!this.#isStopping) {
      const rate = perSecond * this.pace;
      if (rate === 0) {
        await this.#wait(idleMs);
        continue;
      }
      const nowMs = performance.now();
      // Publishes that slow answers prevented are not made up for.
      nextMs = Math.max(nextMs + 1_000 / rate, nowMs - arrearsMsMax);
      if (nextMs > nowMs) await this.#wait(nextMs - nowMs);
      if (!this.#isStopping) await publisher.publish(this.#random.pick(channels));
    }
  }

  /** Tracks a serial publisher until it ends, and notes its failure. */
  #watch(publisher: Promise<void>): Promise<void> {
    const watched = publisher
      .catch((error: unknown) => {
        this.failures.push(error instanceof Error ? error.message : String(error));
      })
      .finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
    return watched;
  }

  #newSerialPublisher(process: string, payloadBytes: number): SerialPublisher {
    const random = new Random(this.#random.between(0, 2 ** 31));
    return new SerialPublisher(
      process,
      { ...this.#plan, payloadBytes },
      this.#calls,
      this.#recorder,
      random,
    );
  }

  /** Waits; ends early when publishing stops. */
  async #wait(milliseconds: number): Promise<void> {
    const { signal } = this.#stopping;
    await pause(milliseconds, undefined, { signal }).catch(() => undefined);
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}

interface Present {
  readonly presence?: Readonly<Record<string, object>>;
  /** Dormouse's own field: a gateway didn't answer. */
  readonly incomplete?: boolean;
}

const burstPayloadBytes = 64;
const idleMs = 100;
const arrearsMsMax = 100;
