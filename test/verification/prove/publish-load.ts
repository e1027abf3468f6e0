import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../support/random.ts";
import { type SerialPublisherPlan, Publisher } from "./clients/publisher.ts";
import type { BackendAddress } from "./clients/backend-call.ts";
import type { Recorder } from "./history/recorder.ts";
import type { ProvedChannel } from "./scenario.ts";

/** The backends' publishes: steady on most channels, and in bursts with pauses on some. */
export class PublishLoad {
  readonly publisher: Publisher;
  /** Channels without publications except for a {@link burst}. */
  readonly quiet: readonly string[];
  readonly #bursting: readonly string[];
  readonly #random: Random;
  readonly #stopping = new AbortController();
  #bursts: Promise<void> = Promise.resolve();

  /** @param pace multiplies the rates */
  constructor(
    backend: BackendAddress,
    channels: readonly ProvedChannel[],
    pace: number,
    random: Random,
    recorder: Recorder,
  ) {
    this.#random = random;
    this.quiet = channels.filter(({ load }) => load === "quiet").map(({ name }) => name);
    this.#bursting = channels
      .filter(({ load }) => load === "bursts" || load === "many-sockets")
      .map(({ name }) => name);
    const plan = {
      ...backend,
      seed: random.between(0, 1_000_000_000),
      serial: channels.flatMap(publisherPlansOf),
      unkeyedShare: 0.1,
      giveUpAfterMs: 60_000,
    };
    this.publisher = new Publisher(plan, recorder);
    this.publisher.pace = pace;
  }

  start(): void {
    this.publisher.start();
    this.#bursts = this.#burstNowAndThen();
  }

  /** Publishes so many times at once that each call to a gateway carries several publications. */
  burst(channel: string): Promise<void> {
    return this.publisher.burst(channel, burstPublications, burstConcurrency);
  }

  /** Resolves when all publishes are answered or given up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.publisher.stop();
    await this.#bursts;
  }

  /** Failures that no repetition can fix, in sentences. */
  get failures(): readonly string[] {
    return this.publisher.failures;
  }

  /** Ends without waiting for answers. No call may follow. */
  close(): void {
    this.#stopping.abort();
    this.publisher.close();
  }

  async #burstNowAndThen(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#bursting.length > 0) {
      const waitMs = this.#random.between(200, 1_500) / this.publisher.pace;
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.burst(this.#random.pick(this.#bursting));
    }
  }
}

/** Each serial publisher waits for an answer before it publishes again, so a busy channel has several. */
function publisherPlansOf({ name, load }: ProvedChannel): readonly SerialPublisherPlan[] {
  switch (load) {
    case "steady":
    case "many-sockets":
      return Array.from({ length: 4 }, () => ({
        channels: [name],
        payloadBytes: 96,
        perSecond: steadyPerSecond / 4,
      }));
    case "slow":
      return [{ channels: [name], payloadBytes: 64, perSecond: 4 }];
    case "wide":
      return [{ channels: [name], payloadBytes: 16_384, perSecond: 8 }];
    case "bursts":
    case "quiet":
    case "clients":
      return [];
  }
}

/** Publications of a channel each second. */
const steadyPerSecond = 60;
const burstPublications = 24;
const burstConcurrency = 8;
