import type { RelayBatch } from "../contract/relay-batch.ts";

/** One call to a gateway. It is told apart by being itself: hand the same object to {@link Relay.answered}. */
export interface Delivery {
  readonly gateway: string;
  readonly batch: RelayBatch;
}

/** How far one gateway is, and when it may be called. One call is under way at a time (rule L2). */
export class FollowerProgress {
  readonly gateway: string;
  /** The first entry that the gateway is not known to have taken. */
  next: number;
  /** It has taken everything before `next`, and nothing from there on. */
  certain: boolean;
  /** It registered, or took something, in this instance. */
  confirmed: boolean;
  /** It is to be called even when there is nothing new: to tell it where the stream stands, or to see if it still follows. */
  mustCall = false;
  /** It is being asked whether it still follows, and that is to be noted. */
  checking = false;
  #inFlight: Delivery | undefined;
  #followedMeanwhile = false;
  #failures = 0;
  #failedAtMs = 0;

  /** @param following it follows from now on; otherwise a former instance knew it, and how far it came nobody knows */
  constructor(gateway: string, next: number, following: boolean) {
    this.gateway = gateway;
    this.next = next;
    this.certain = following;
    this.confirmed = following;
  }

  /** It asked to follow, again: what came before it reads from the history, if it wants to. */
  follow(next: number): void {
    // Should this be an old question that came late, the gateway still waits for what it hasn't taken: it has to hear of it.
    if (next > this.next) this.mustCall = true;
    this.next = next;
    this.certain = true;
    this.#failures = 0;
    this.#followedMeanwhile = true;
  }

  /** Entries before this number are gone without the gateway having taken them. */
  skipTo(first: number): void {
    if (this.next >= first) return;
    this.next = first;
    this.certain = false;
  }

  get calling(): boolean {
    return this.#inFlight !== undefined;
  }

  begin(delivery: Delivery): void {
    this.#inFlight = delivery;
    this.#followedMeanwhile = false;
  }

  /**
   * A call has ended.
   *
   * @returns undefined for one that isn't under way; otherwise whether the gateway asked to follow while it was
   */
  end(delivery: Delivery): { readonly followedMeanwhile: boolean } | undefined {
    if (this.#inFlight !== delivery) return undefined;
    this.#inFlight = undefined;
    return { followedMeanwhile: this.#followedMeanwhile };
  }

  /** The gateway has everything before this number. */
  took(next: number): void {
    this.confirmed = true;
    this.checking = false;
    this.#failures = 0;
    this.certain = true;
    // What it followed from meanwhile may be further; then nobody knows whether it has what lies between.
    if (next < this.next) return;
    this.next = next;
    this.mustCall = false;
  }

  /** The call came to nothing; the next one waits. */
  failed(nowMs: number): void {
    this.#failures++;
    this.#failedAtMs = nowMs;
  }

  /** How often calls have failed since the last one that didn't. */
  get failures(): number {
    return this.#failures;
  }

  /** Until when not to call it, ms since 1970; undefined when it may be called. */
  waitsUntilMs(nowMs: number): number | undefined {
    // A clock that was set back must not make it wait longer.
    if (this.#failures === 0 || nowMs < this.#failedAtMs) return undefined;
    const untilMs = this.#failedAtMs + waitMs(this.#failures);
    return untilMs <= nowMs ? undefined : untilMs;
  }
}

function waitMs(failures: number): number {
  return failures <= quickRetries
    ? quickWaitMs * 2 ** (failures - 1)
    : Math.min(slowWaitMs * 2 ** (failures - quickRetries - 1), slowWaitMaxMs);
}

/** From 100 ms to 3.2 s, 6.3 s in all: a deploy or a move takes no longer, and nobody should notice it. */
export const quickRetries = 6;
const quickWaitMs = 100;
/** Then the fault isn't passing: each try wakes two objects and costs an alarm, so they get rare. */
const slowWaitMs = 8_000;
/** Rare enough to cost nothing, and often enough that a gateway that is back isn't long without its channel. */
export const slowWaitMaxMs = 600_000;
