import type { StreamPosition } from "../protocol/publication.ts";
import type { Cursor } from "../contract/session-snapshot.ts";
import type { RelayBatch } from "../contract/relay-batch.ts";
import type { Subscription } from "../session/subscription.ts";

/** Whether one cursor is further than another. */
export function isBeyond(one: Cursor, other: Cursor): boolean {
  if (one.instance !== other.instance) return one.instance > other.instance;
  if (one.sequence !== other.sequence) return one.sequence > other.sequence;
  return (one.position?.offset ?? 0) > (other.position?.offset ?? 0);
}

/** Where a gateway stood that has taken everything before this batch, and nothing of it. */
export function cursorBefore({ instance, first, entries, top }: RelayBatch): Cursor {
  const cursor = { instance, sequence: first - 1 };
  if (top === undefined) return cursor;
  for (const entry of entries) {
    if (entry.type !== "publication" || entry.publication.offset === 0) continue;
    return { ...cursor, position: { epoch: top.epoch, offset: entry.publication.offset - 1 } };
  }
  return { ...cursor, position: top };
}

/** Whether two positions are of one stream. An empty epoch isn't known yet, and isn't compared (docs/protocol.md 2.6). */
export function sameStream(one: StreamPosition, other: StreamPosition): boolean {
  return one.epoch === other.epoch || one.epoch === "" || other.epoch === "";
}

/**
 * Notes how far a gateway is with a channel, where it survives sleep: in one subscriber's attachment (rule L7), so that a
 * batch costs one attachment and not one for each subscriber.
 */
export class CursorKeeper {
  #keeper: Subscription | undefined;
  /** What it holds. */
  #written: Cursor | undefined;
  /** They had no room when they were last asked, the longest ago first. They may have it again. Undefined while all have. */
  #refused: Set<Subscription> | undefined;
  /** For what some of them were asked again. */
  #askedFor: Cursor | undefined;

  /** A subscription woke, and holds what was noted. */
  restored(subscription: Subscription, cursor: Cursor): void {
    this.#keeper = subscription;
    this.#written = cursor;
  }

  left(subscription: Subscription): void {
    this.#accept(subscription);
    if (subscription !== this.#keeper) return;
    this.#keeper = undefined;
    this.#written = undefined;
  }

  /** Everybody has left. */
  clear(): void {
    this.#refused = undefined;
    this.#askedFor = undefined;
    this.#keeper = undefined;
    this.#written = undefined;
  }

  /** Notes how far the gateway is, if that isn't noted yet. */
  keep(cursor: Cursor, subscriptions: Iterable<Subscription>): void {
    if (this.#written === cursor) return;
    if (this.#keeper === undefined || !this.#keptBy(this.#keeper, cursor)) {
      const again = this.#askedFor === cursor ? [] : firstOf(askedAgain, this.#refused ?? []);
      this.#keeper = this.#find(cursor, subscriptions, again);
      this.#askedFor = this.#refused === undefined ? undefined : cursor;
    }
    this.#written = this.#keeper === undefined ? undefined : cursor;
  }

  /** Asks everybody once, and then a few again for each batch: all of them may be thousands. */
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
    // The last one that was asked comes last.
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

function firstOf(count: number, subscriptions: Iterable<Subscription>): readonly Subscription[] {
  const found: Subscription[] = [];
  for (const subscription of subscriptions) {
    if (found.length >= count) break;
    found.push(subscription);
  }
  return found;
}

/** Enough that a crowd is asked in a while, and too few to be noticed beside sending a batch to it. */
const askedAgain = 4;
