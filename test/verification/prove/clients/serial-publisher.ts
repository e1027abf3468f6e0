import type { Random } from "../../../support/random.ts";
import { microseconds } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import type { BackendCalls } from "./backend-call.ts";
import { payloadOf } from "./value.ts";

/** The properties of a serial publisher. */
export interface PublisherTraits {
  /** The size of each publication's data; a value that is longer stays whole. */
  readonly payloadBytes: number;
  /** The share of publishes without an idempotency key, which aren't repeated, 0 to 1. */
  readonly unkeyedShare: number;
  /** How long a publish with a key is repeated; well below the 5 minutes for which keys are remembered. */
  readonly giveUpAfterMs: number;
}

/** Publishes one publication after the other, each with a unique value, and records the outcomes. */
export class SerialPublisher {
  readonly process: string;
  readonly #traits: PublisherTraits;
  readonly #calls: BackendCalls;
  readonly #recorder: Recorder;
  readonly #random: Random;
  #count = 0;

  constructor(
    process: string,
    traits: PublisherTraits,
    calls: BackendCalls,
    recorder: Recorder,
    random: Random,
  ) {
    this.process = process;
    this.#traits = traits;
    this.#calls = calls;
    this.#recorder = recorder;
    this.#random = random;
  }

  /** Resolves when the publish is answered or given up. Rejects when it failed for good. */
  async publish(channel: string): Promise<void> {
    const value = `${this.process}-${++this.#count}`;
    const { payloadBytes, unkeyedShare, giveUpAfterMs } = this.#traits;
    const data = payloadOf(value, payloadBytes);
    const isKeyed = !this.#random.chance(unkeyedShare);
    const command = { channel, data, ...(isKeyed ? { idempotency_key: value } : {}) };
    this.#record("invoke", channel, value);
    const forMs = isKeyed ? giveUpAfterMs : 0;
    const called = await this.#calls.repeat("publish", command, this.#random, forMs);
    switch (called.outcome) {
      case "result":
        this.#record("ok", channel, value, parsePosition(called.result));
        return;
      case "wrong":
        this.#record("info", channel, value);
        throw new Error(`${this.process} couldn't publish to ${channel}: ${called.problem}`);
      case "lost":
        this.#record("info", channel, value);
        return;
      case "refused":
        this.#record("fail", channel, value);
    }
  }

  #record(
    type: "invoke" | "ok" | "fail" | "info",
    channel: string,
    value: string,
    position: Position = {},
  ): void {
    const common = { time: microseconds(), process: this.process, f: "publish", channel, value };
    this.#recorder.record({ ...common, f: "publish", type, ...position });
  }
}

/** Absent without history. */
interface Position {
  readonly offset?: number;
  readonly epoch?: string;
}

function parsePosition(result: object): Position {
  const { offset, epoch }: Position = result;
  return offset === undefined || epoch === undefined ? {} : { offset, epoch };
}
