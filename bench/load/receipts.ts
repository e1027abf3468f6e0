import type { DeliveryCount } from "./delivery-count.ts";
import type { FailureSignal } from "./failure-signal.ts";

/** The receipts of all sockets: each delivery is answered by a frame, which the system answers in turn. */
export class Receipts {
  /** Receipts that the system has answered. */
  answered = 0;
  /** From each receipt to its answer, ms, as they came. */
  latenciesMs: number[] = [];
  readonly #deliveries: DeliveryCount;
  readonly #failure: FailureSignal;
  #waiting: { readonly most: number; readonly resolve: () => void }[] = [];

  constructor(deliveries: DeliveryCount, failure: FailureSignal) {
    this.#deliveries = deliveries;
    this.#failure = failure;
  }

  answer(latencyMs: number): void {
    this.answered++;
    this.latenciesMs.push(latencyMs);
    if (this.#missing < 0) this.#failure.raise("more answers to receipts than receipts");
    if (this.#waiting.length === 0) return;
    const ready = this.#waiting.filter(({ most }) => this.#missing <= most);
    if (ready.length === 0) return;
    this.#waiting = this.#waiting.filter((each) => !ready.includes(each));
    for (const { resolve } of ready) resolve();
  }

  /** Resolves when at most so many of the expected deliveries have no answered receipt. */
  async missingAtMost(most: number): Promise<void> {
    if (this.#missing <= most) return;
    await new Promise<void>((resolve) => this.#waiting.push({ most, resolve }));
  }

  get #missing(): number {
    return this.#deliveries.expected - this.answered;
  }
}

/** The receipts of one socket, whose answers come in order. */
export class SocketReceipts {
  readonly #frameOf: (delivery: number) => Buffer;
  #deliveries = 0;
  readonly #all: Receipts;
  /** When each receipt without an answer was sent. */
  readonly #sentAtMs: number[] = [];

  /** @param frameOf makes the receipt of the socket's delivery of that number, counted from 1, as bytes */
  constructor(frameOf: (delivery: number) => Buffer, all: Receipts) {
    this.#frameOf = frameOf;
    this.#all = all;
  }

  /** The bytes that answer so many deliveries, each with a frame of its own. */
  sent(deliveries: number): Buffer {
    const nowMs = performance.now();
    for (let count = 0; count < deliveries; count++) this.#sentAtMs.push(nowMs);
    return deliveries === 1
      ? this.#frameOf(++this.#deliveries)
      : Buffer.concat(Array.from({ length: deliveries }, () => this.#frameOf(++this.#deliveries)));
  }

  /** So many answers came. */
  answer(answers: number): void {
    const nowMs = performance.now();
    // An answer without a receipt raises the failure of all receipts.
    for (const sentAtMs of this.#sentAtMs.splice(0, answers)) this.#all.answer(nowMs - sentAtMs);
  }
}
