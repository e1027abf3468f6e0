import type { ClientConfig } from "../config/config.ts";
import { Hub } from "../hub/hub.ts";
import type { Subscription } from "../session/subscription.ts";
import type { RelayEntry } from "../contract/relay-batch.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import { CursorKeeper, isBeyond } from "./cursor.ts";

/** A gateway's own subscribers to one channel: who they are, what they are sent, and what they note and wait for. */
export class LocalSubscribers {
  readonly #hub: Hub<Subscription>;
  readonly #keeper = new CursorKeeper();
  /** Undefined while nobody waits. */
  #waits: PublishWaits | undefined;

  constructor(channel: string, client: ClientConfig) {
    this.#hub = new Hub(channel, client.queueMaxSizeBytes);
  }

  get size(): number {
    return this.#hub.size;
  }

  get subscriptions(): readonly Subscription[] {
    return this.#hub.subscribers;
  }

  /** Whether {@link settle} has something to do. */
  get unsettled(): boolean {
    return this.#hub.collecting || this.#waits !== undefined;
  }

  /** Whether their sockets hold more than memory bears (rule B3). */
  overloaded(nowMs: number): boolean {
    return this.#hub.overloaded(nowMs);
  }

  /** From here on the subscription gets everything. */
  add(subscription: Subscription): void {
    this.#hub.add(subscription);
  }

  /**
   * Takes up a subscription that slept.
   *
   * @returns where the gateway stands, if this one noted that and knows better than those before it
   */
  restore(subscription: Subscription, cursor: Cursor | undefined): Cursor | undefined {
    this.add(subscription);
    const noted = subscription.cursor;
    if (noted === undefined || (cursor !== undefined && !isBeyond(noted, cursor))) return cursor;
    this.#keeper.restored(subscription, noted);
    return noted;
  }

  remove(subscription: Subscription): void {
    if (!this.#hub.remove(subscription)) return;
    this.#keeper.left(subscription);
    this.#withWaits((waits) => waits.releaseOf(subscription));
  }

  /** Something is missing and can't be had (rule L3): everybody is told, and isn't a subscriber any more. */
  insufficientState(): void {
    const ended = this.subscriptions;
    this.#keeper.clear();
    for (const subscription of ended) this.#hub.remove(subscription);
    for (const subscription of ended) subscription.insufficientState();
    // Their publications are among what they lost: that they were published they hear after that (rule O4).
    this.#withWaits((waits) => waits.releaseAll());
  }

  /** Sends, or collects, what the channel told. */
  deliver(entry: RelayEntry): void {
    switch (entry.type) {
      case "publication":
        this.#hub.publish(entry.publication);
        return;
      case "join":
      case "leave":
        this.#hub.announce(entry.type, entry.info);
        return;
      case "sole":
        this.#hub.makeExclusive(entry.user, entry.client);
        return;
      case "removed":
      // Nobody is told.
    }
  }

  /** Notes how far the gateway is, where it survives sleep. */
  keep(cursor: Cursor): void {
    this.#keeper.keep(cursor, this.#hub.members);
  }

  /** Answers a publisher once {@link release} says that its publication is here; at once, if it isn't a subscriber. */
  awaitPublication(wait: PublishWait): void {
    if (!this.#hub.has(wait.subscription)) {
      wait.done();
      return;
    }
    this.#waits ??= new PublishWaits();
    this.#waits.add(wait);
  }

  /** @returns whether somebody's publication is with the subscribers now, and was answered */
  release(cursor: Cursor): boolean {
    return this.#withWaits((waits) => waits.release(cursor)) === true;
  }

  /** Whether publications are being collected; then the subscription's `flushed` is called once they went out. */
  awaitFlush(subscription: Subscription): boolean {
    if (!this.#hub.collecting) return false;
    this.#hub.callAfterFlush(subscription);
    return true;
  }

  /**
   * Sends what was collected, and answers those who waited too long.
   *
   * @returns in how many ms this must be called again; undefined when there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    const hubMs = this.#hub.settle(nowMs);
    const waitsMs = this.#withWaits((waits) => waits.expire(nowMs));
    if (hubMs === undefined || waitsMs === undefined) return hubMs ?? waitsMs;
    return Math.min(hubMs, waitsMs);
  }

  /** Answers some of those who wait, if anybody does. */
  #withWaits<Result>(work: (waits: PublishWaits) => Result): Result | undefined {
    const waits = this.#waits;
    if (waits === undefined) return undefined;
    const result = work(waits);
    // An answer may have made others wait.
    if (waits.size === 0 && this.#waits === waits) this.#waits = undefined;
    return result;
  }
}

/** A publisher that hears of its publication as a subscriber first (rule O4). */
export interface PublishWait {
  readonly subscription: Subscription;
  /** Where its publication is among the channel's entries. */
  readonly instance: number;
  readonly sequence: number;
  /** It is answered then in any case, ms since 1970: nothing hangs (rule B4). */
  readonly dueAtMs: number;
  readonly done: () => void;
}

/** The publishers whose publication a gateway has not taken yet. */
class PublishWaits {
  readonly #waits = new Set<PublishWait>();

  get size(): number {
    return this.#waits.size;
  }

  add(wait: PublishWait): void {
    this.#waits.add(wait);
  }

  /**
   * Answers those whose publication is with the subscribers.
   *
   * @returns whether there were any
   */
  release(cursor: Cursor): boolean {
    return this.#answer((wait) => isReached(wait, cursor));
  }

  /** Answers those whose subscription has ended: it will hear of nothing any more. */
  releaseOf(subscription: Subscription): void {
    this.#answer((wait) => wait.subscription === subscription);
  }

  releaseAll(): void {
    this.#answer(() => true);
  }

  /**
   * Answers those who have waited long enough.
   *
   * @returns in how many ms the next one has; undefined when nobody waits
   */
  expire(nowMs: number): number | undefined {
    this.#answer(({ dueAtMs }) => nowMs >= dueAtMs);
    let waitMs: number | undefined;
    for (const { dueAtMs } of this.#waits) {
      waitMs = Math.min(waitMs ?? Number.POSITIVE_INFINITY, dueAtMs - nowMs);
    }
    return waitMs;
  }

  /** Takes out whoever is answered before answering: an answer may make others wait. */
  #answer(ready: (wait: PublishWait) => boolean): boolean {
    const answered = [...this.#waits].filter(ready);
    for (const wait of answered) this.#waits.delete(wait);
    for (const { done } of answered) done();
    return answered.length > 0;
  }
}

/** A later instance begins after everything that an earlier one told. */
function isReached(
  { instance, sequence }: { readonly instance: number; readonly sequence: number },
  cursor: Cursor,
): boolean {
  if (cursor.instance !== instance) return cursor.instance > instance;
  return cursor.sequence >= sequence;
}
