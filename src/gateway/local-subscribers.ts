import type { ClientConfig } from "../config/config.ts";
import { Hub, type HubSetup } from "../hub/hub.ts";
import type { Subscription } from "../session/subscription.ts";
import type { RelayEntry } from "../contract/relay-batch.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import { CursorKeeper, isBeyond } from "./cursor.ts";
import { dueMoment } from "../moment.ts";
import { limits } from "../limits.ts";

/**
 * A gateway's own subscribers to one channel, with the hub that sends to them, the keeper of the cursor, and the
 * publishers that wait for their own publications (rule O4).
 */
export class LocalSubscribers {
  /** Subscriptions are removed by {@link remove}, and entries come by {@link deliver}. */
  readonly hub: Hub<Subscription>;
  readonly #keeper = new CursorKeeper();
  /** Undefined while no publisher waits. */
  #waits: PublishWaits | undefined;

  constructor(channel: string, client: ClientConfig, setup: HubSetup = {}) {
    this.hub = new Hub(channel, client.queueMaxSizeBytes, setup);
  }

  /** Whether {@link settle} has something to do. */
  get unsettled(): boolean {
    return this.hub.collecting || this.#waits !== undefined;
  }

  /** Whether the channel's object is to wait with what comes next (rules F6 and F8). */
  get full(): boolean {
    if (this.hub.full) return true;
    // A publisher here gets its answer when its publication comes, and is caught up alone.
    return this.#waits === undefined && this.hub.sendsLater;
  }

  /**
   * Restores a subscription after hibernation.
   *
   * @param cursor the furthest one that the subscriptions restored before this one store; undefined if they store none
   * @returns the furthest one with this subscription's
   */
  restore(subscription: Subscription, cursor: Cursor | undefined): Cursor | undefined {
    this.hub.add(subscription);
    const stored = subscription.cursor;
    if (stored === undefined || (cursor !== undefined && !isBeyond(stored, cursor))) return cursor;
    this.hub.restoredAt = stored.position?.offset;
    this.#keeper.restored(subscription, stored);
    return stored;
  }

  /** From here on the subscription gets nothing more, and its publish replies wait no longer. */
  remove(subscription: Subscription): void {
    if (!this.hub.remove(subscription)) return;
    this.#keeper.left(subscription);
    this.#withWaits((waits) => waits.releaseOf(subscription));
  }

  /** Publications are missing and can't be read (rule L3): ends all subscriptions, and tells the clients. */
  insufficientState(): void {
    const ended = this.hub.subscribers;
    this.#keeper.clear();
    for (const subscription of ended) this.hub.remove(subscription);
    for (const subscription of ended) subscription.insufficientState();
    // Publications that publishers wait for are among the missing ones: they get their replies after that (rule O4).
    this.#withWaits((waits) => waits.releaseAll());
  }

  /** Collects an entry for the subscribers. */
  deliver(entry: RelayEntry): void {
    if (entry.type === "publication") this.hub.publish(entry.publication);
    else if (entry.type === "piece") this.hub.grow(entry.piece);
    else if (entry.type === "join" || entry.type === "leave")
      this.hub.announce(entry.type, entry.info);
    else if (entry.type === "sole") this.hub.makeExclusive(entry.user, entry.client);
    // Clients receive nothing of the other entries.
  }

  /** Stores how far the gateway is, so that it survives hibernation (rule L7). */
  keep(cursor: Cursor): void {
    this.#keeper.keep(cursor, this.hub.members);
  }

  /** Answers a publisher once {@link release} reaches its publication; at once, if the publisher isn't a subscriber. */
  awaitPublication(wait: PublishWait): void {
    if (!this.hub.has(wait.subscription)) {
      wait.done();
      return;
    }
    this.#waits ??= new PublishWaits();
    this.#waits.enqueue(wait);
  }

  /**
   * Answers the publishers whose publications the subscribers have.
   *
   * @returns whether there were any
   */
  release(cursor: Cursor): boolean {
    return this.#withWaits((waits) => waits.release(cursor)) === true;
  }

  /**
   * Starts to send what was collected, unless a frame is on its way, and answers publishers that have waited too long.
   *
   * @returns in how many ms the next publisher has waited too long; undefined if none waits
   */
  settle(nowMs: number): number | undefined {
    this.hub.begin();
    return this.#withWaits((waits) => waits.expire(nowMs));
  }

  /** Does something with the publishers that wait, if there are any. */
  #withWaits<Result>(work: (waits: PublishWaits) => Result): Result | undefined {
    const waits = this.#waits;
    if (waits === undefined) return undefined;
    const result = work(waits);
    // A reply may have made other publishers wait.
    if (waits.size === 0 && this.#waits === waits) this.#waits = undefined;
    return result;
  }
}

/** A publish whose reply waits until its client has got the publication as a subscriber (rule O4). */
export interface PublishWait {
  readonly subscription: Subscription;
  /** The number of the publication among the channel's entries. */
  readonly instance: number;
  readonly sequence: number;
  /** When it is answered in any case, ms since 1970 (rule B4). */
  readonly dueAtMs: number;
  readonly done: () => void;
}

/** The publishers whose publications a gateway hasn't taken yet. */
class PublishWaits {
  readonly #waits = new Set<PublishWait>();

  get size(): number {
    return this.#waits.size;
  }

  enqueue(wait: PublishWait): void {
    this.#waits.add(wait);
  }

  /**
   * Answers those whose publication the subscribers have.
   *
   * @returns whether there were any
   */
  release(cursor: Cursor): boolean {
    return this.#answer((wait) => isReached(wait, cursor));
  }

  /** Answers those whose subscription has ended: it gets no publication any more. */
  releaseOf(subscription: Subscription): void {
    this.#answer((wait) => wait.subscription === subscription);
  }

  releaseAll(): void {
    this.#answer(() => true);
  }

  /**
   * Answers the publishers that have waited long enough.
   *
   * @returns in how many ms the next one has; undefined if none waits
   */
  expire(nowMs: number): number | undefined {
    const leftMs = (dueAtMs: number) => dueMoment(dueAtMs, limits.objectAnswerMs, nowMs) - nowMs;
    this.#answer(({ dueAtMs }) => leftMs(dueAtMs) <= 0);
    let waitMs: number | undefined;
    for (const { dueAtMs } of this.#waits) {
      waitMs = Math.min(waitMs ?? Number.POSITIVE_INFINITY, leftMs(dueAtMs));
    }
    return waitMs;
  }

  /** Removes those that are answered first, because a reply may make others wait. */
  #answer(ready: (wait: PublishWait) => boolean): boolean {
    const answered = [...this.#waits].filter(ready);
    for (const wait of answered) this.#waits.delete(wait);
    for (const { done } of answered) done();
    return answered.length > 0;
  }
}

/**
 * Whether a cursor has reached an entry. A later instance begins after all entries of an earlier one. Number 0 is none: the
 * instance has made no entry yet, because the publish changed nothing, so no batch would bring the cursor there.
 */
function isReached(
  { instance, sequence }: { readonly instance: number; readonly sequence: number },
  cursor: Cursor,
): boolean {
  if (sequence === 0) return true;
  if (cursor.instance !== instance) return cursor.instance > instance;
  return cursor.sequence >= sequence;
}
