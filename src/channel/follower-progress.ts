import type { RelayBatch } from "../contract/relay-batch.ts";
import { limits } from "../limits.ts";

/**
 * How far one gateway is, from the channel's side: the next entry, the call in flight, and the wait after failed calls.
 * One call is in flight at a time (rule L2). The relay decides when to call the gateway, and with which entries.
 */
export class FollowerProgress {
  readonly gateway: string;
  /** The number of the first entry that the gateway isn't known to have taken. */
  next: number;
  /** Whether the gateway is known to have taken every entry before `next`, and none from there on. */
  certain: boolean;
  /** Whether the gateway has registered or taken a batch in this instance. */
  confirmed: boolean;
  /** Whether to call the gateway even without new entries: to tell it the top, or to check whether it still follows. */
  mustCall = false;
  /** Whether the gateway is being checked: if it still follows the channel, that is to be noted in the registry. */
  checking = false;
  /** Whether the gateway has subscribers besides onlookers (rule N26); undefined until it has said so to this instance. */
  occupies: boolean | undefined;
  #inFlight: Delivery | undefined;
  /** When the last call began, ms since 1970. */
  #begunAtMs = 0;
  #followedMeanwhile = false;
  #failures = 0;
  #failedAtMs = 0;

  /**
   * @param following whether the gateway follows from now on; otherwise a former instance registered it, and how far it
   *                  came is unknown
   */
  constructor(gateway: string, next: number, following: boolean) {
    this.gateway = gateway;
    this.next = next;
    this.certain = following;
    this.confirmed = following;
  }

  /**
   * The gateway has sent `follow`, perhaps again. It reads entries before `next` from the history, if it needs them.
   */
  follow(next: number): void {
    // An old `follow` may come late. Then the gateway still waits for the entries that it hasn't taken, and must be
    // called with them.
    if (next > this.next) this.mustCall = true;
    this.next = next;
    this.certain = true;
    this.#failures = 0;
    this.#followedMeanwhile = true;
  }

  /** Entries before this number were dropped although the gateway hasn't taken them. */
  skipTo(first: number): void {
    if (this.next >= first) return;
    this.next = first;
    this.certain = false;
  }

  /** Whether a call is in flight. */
  get calling(): boolean {
    return this.#inFlight !== undefined;
  }

  /**
   * For how long publishers may wait for the call in flight, in ms (rule F9); 0 without a call, and if the calls before it
   * failed: publishers don't wait for a gateway that can't be reached.
   */
  awaitedMs(nowMs: number): number {
    if (!this.calling || this.#failures > 0) return 0;
    // A clock that was set back must not make the wait longer.
    if (nowMs < this.#begunAtMs) return 0;
    return Math.max(0, this.#begunAtMs + limits.relayAheadWaitMs - nowMs);
  }

  begin(delivery: Delivery, nowMs: number): void {
    this.#inFlight = delivery;
    this.#begunAtMs = nowMs;
    this.#followedMeanwhile = false;
  }

  /**
   * A call has ended.
   *
   * @returns undefined for a call that isn't in flight; otherwise whether the gateway has sent `follow` since it began
   */
  end(delivery: Delivery): { readonly followedMeanwhile: boolean } | undefined {
    if (this.#inFlight !== delivery) return undefined;
    this.#inFlight = undefined;
    return { followedMeanwhile: this.#followedMeanwhile };
  }

  /** The gateway has every entry before this number. */
  took(next: number): void {
    this.confirmed = true;
    this.checking = false;
    this.#failures = 0;
    this.certain = true;
    // A `follow` during the call may have set `next` further. Then it is unknown whether the gateway has the entries
    // between.
    if (next < this.next) return;
    this.next = next;
    this.mustCall = false;
  }

  /** The call failed, and the next one waits. */
  failed(nowMs: number): void {
    this.#failures++;
    this.#failedAtMs = nowMs;
  }

  /** How many calls have failed in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** The time until which the gateway isn't called, ms since 1970; undefined if it may be called now. */
  waitsUntilMs(nowMs: number): number | undefined {
    // A clock that was set back must not make the wait longer.
    if (this.#failures === 0 || nowMs < this.#failedAtMs) return undefined;
    const untilMs = this.#failedAtMs + waitMs(this.#failures);
    return untilMs <= nowMs ? undefined : untilMs;
  }
}

/** One call to a gateway. `Relay.answered` tells deliveries apart by identity: pass it the same object. */
export interface Delivery {
  readonly gateway: string;
  readonly batch: RelayBatch;
}

function waitMs(failures: number): number {
  return failures <= quickRetries
    ? quickWaitMs * 2 ** (failures - 1)
    : Math.min(slowWaitMs * 2 ** (failures - quickRetries - 1), slowWaitMaxMs);
}

/**
 * From 100 ms to 3.2 s, 6.3 s in all: a deploy or a move of an object takes no longer, and clients shouldn't notice it.
 */
export const quickRetries = 6;
const quickWaitMs = 100;
/** After that the fault isn't transient. Each retry wakes two objects and costs an alarm, so retries become rare. */
const slowWaitMs = 8_000;
/** The longest wait: retries cost next to nothing, and a gateway that is back isn't without the channel for long. */
export const slowWaitMaxMs = 600_000;
