/**
 * How far a gateway is with a channel (rule L7): the storage of its cursor, and the comparisons of cursors and
 * positions. The type `Cursor` is in `src/contract/session-snapshot.ts`, because attachments store it.
 */
import type { StreamPosition } from "../protocol/publication.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import type { RelayBatch } from "../contract/relay-batch.ts";
import type { Subscription } from "../session/subscription.ts";

/**
 * Stores a gateway's cursor of a channel, so that it survives hibernation (rule L7). It is stored in the attachment of
 * one subscriber, the keeper, so that a batch costs one attachment and not one for each subscriber.
 */
export class CursorKeeper {
  #keeper: Subscription | undefined;
  /** The cursor that the keeper stores. */
  #written: Cursor | undefined;
  /**
   * Subscriptions whose attachment was full last time, least recently asked first. They may have room again. Undefined
   * while there are none.
   */
  #refused: Set<Subscription> | undefined;
  /** The cursor for which some of the refused were asked again. */
  #askedAgainFor: Cursor | undefined;

  /** A restored subscription stores this cursor, so it is the keeper. */
  restored(subscription: Subscription, cursor: Cursor): void {
    this.#keeper = subscription;
    this.#written = cursor;
  }

  /** A subscription has ended. */
  left(subscription: Subscription): void {
    this.#accept(subscription);
    if (subscription !== this.#keeper) return;
    this.#keeper = undefined;
    this.#written = undefined;
  }

  /** All subscriptions have ended. */
  clear(): void {
    this.#refused = undefined;
    this.#askedAgainFor = undefined;
    this.#keeper = undefined;
    this.#written = undefined;
  }

  /** Stores the cursor, unless it is stored already. */
  keep(cursor: Cursor, subscriptions: Iterable<Subscription>): void {
    if (this.#written === cursor) return;
    if (this.#keeper === undefined || !this.#keptBy(this.#keeper, cursor)) {
      const again =
        this.#askedAgainFor === cursor ? [] : firstOf(askedAgainCount, this.#refused ?? []);
      this.#keeper = this.#find(cursor, subscriptions, again);
      this.#askedAgainFor = this.#refused === undefined ? undefined : cursor;
    }
    this.#written = this.#keeper === undefined ? undefined : cursor;
  }

  /** Asks each subscription once, and then a few of the refused again for each batch: there may be thousands. */
  #find(
    cursor: Cursor,
    subscriptions: Iterable<Subscription>,
    again: readonly Subscription[],
  ): Subscription | undefined {
    for (const subscription of subscriptions) {
      if (this.#refused?.has(subscription) === true) continue;
      if (this.#keptBy(subscription, cursor)) return subscription;
    }
    return again.find((subscription) => this.#keptBy(subscription, cursor));
  }

  #keptBy(subscription: Subscription, cursor: Cursor): boolean {
    // Removed first, so that the subscription that was asked last comes last.
    this.#accept(subscription);
    if (subscription.keep(cursor)) return true;
    this.#refused ??= new Set();
    this.#refused.add(subscription);
    return false;
  }

  #accept(subscription: Subscription): void {
    this.#refused?.delete(subscription);
    if (this.#refused?.size === 0) this.#refused = undefined;
  }
}

/** Whether one cursor is further than another: by instance, then by sequence, then by offset. */
export function isBeyond(one: Cursor, other: Cursor): boolean {
  if (one.instance !== other.instance) return one.instance > other.instance;
  if (one.sequence !== other.sequence) return one.sequence > other.sequence;
  return (one.position?.offset ?? 0) > (other.position?.offset ?? 0);
}

/** Whether the subscribers of a gateway without a cursor are certain to have everything before a batch. */
export function isKnownStart({ certain, first, entries, top }: RelayBatch): boolean {
  // The first batch of an instance, without entries and without history, repeats nothing and leaves nothing out.
  const isEmptyStart = first === 1 && entries.length === 0 && top === undefined;
  // After a removal the top may be of another stream than the subscribers have (rule Z5).
  return isEmptyStart || (certain && entries.every(({ type }) => type !== "removed"));
}

/** The cursor of a gateway that has taken everything before this batch, and nothing of the batch. */
export function cursorBefore({ instance, first, entries, top }: RelayBatch): Cursor {
  const cursor = { instance, sequence: first - 1 };
  if (top === undefined) return cursor;
  for (const entry of entries) {
    if (entry.type !== "publication" || entry.publication.offset === 0) continue;
    return { ...cursor, position: { epoch: top.epoch, offset: entry.publication.offset - 1 } };
  }
  return { ...cursor, position: top };
}

/**
 * Whether two positions have the same epoch. An empty epoch isn't known yet, and isn't compared (docs/protocol.md 2.6).
 */
export function sameStream(one: StreamPosition, other: StreamPosition): boolean {
  return one.epoch === other.epoch || one.epoch === "" || other.epoch === "";
}

function firstOf(count: number, subscriptions: Iterable<Subscription>): readonly Subscription[] {
  const found: Subscription[] = [];
  for (const subscription of subscriptions) {
    if (found.length >= count) break;
    found.push(subscription);
  }
  return found;
}

/**
 * How many refused subscriptions are asked again for each batch: enough that thousands of them are all asked in time,
 * and so few that asking takes little time beside sending the batch.
 */
const askedAgainCount = 4;
