import type { Cursor, SubscriptionSnapshot } from "../contract/session-snapshot.ts";
import type { Subscription } from "./subscription.ts";

/**
 * One session's subscriptions, with those it is just asking for. Most sessions have one or a few, and an object has
 * thousands of sessions: what finds one among many is there only while they are many.
 */
export class Subscriptions {
  #all: readonly Subscription[] = [];
  /** The same, by channel; undefined while they never were many. */
  #byChannel: Map<string, Subscription> | undefined;
  /** The snapshots of those that have begun; undefined after a change, and while they are few. */
  #list: readonly SubscriptionSnapshot[] | undefined;

  get size(): number {
    return this.#all.length;
  }

  has(channel: string): boolean {
    return this.#find(channel) !== undefined;
  }

  /** The subscription to a channel, if it has begun. */
  get(channel: string): Subscription | undefined {
    const subscription = this.#find(channel);
    return subscription?.begun === true ? subscription : undefined;
  }

  /** Those that have begun, as they are to be remembered. When they are many the same array until one changes. */
  get list(): readonly SubscriptionSnapshot[] {
    if (this.#list !== undefined) return this.#list;
    const list = this.#all.filter(({ begun }) => begun).map(({ granted }) => granted);
    if (list.length > few) this.#list = list;
    return list;
  }

  /** The snapshots of all of them, the ones asked for included: there must be room for those, too. */
  get granted(): readonly SubscriptionSnapshot[] {
    return this.#all.map(({ granted }) => granted);
  }

  /** All of them, the ones asked for included. Not touched when one comes or goes, but made anew. */
  get all(): readonly Subscription[] {
    return this.#all;
  }

  /** How far the gateway is with those channels for which this session has to remember it; undefined when there is none. */
  get cursors(): ReadonlyMap<string, Cursor> | undefined {
    let cursors: Map<string, Cursor> | undefined;
    for (const { channel, cursor } of this.#all) {
      if (cursor === undefined) continue;
      cursors ??= new Map();
      cursors.set(channel, cursor);
    }
    return cursors;
  }

  /** How many {@link cursors} there are. */
  get cursorCount(): number {
    let count = 0;
    for (const { cursor } of this.#all) if (cursor !== undefined) count++;
    return count;
  }

  /** When the first of them ends, in seconds since 1970; 0 for never. */
  get expireAtSeconds(): number {
    let first = 0;
    for (const { begun, granted } of this.#all) {
      const { expireAtSeconds } = granted;
      if (begun && expireAtSeconds !== 0 && (first === 0 || expireAtSeconds < first))
        first = expireAtSeconds;
    }
    return first;
  }

  /** A subscription is asked for; or, when it slept, has begun long ago. */
  add(subscription: Subscription): void {
    const { channel } = subscription;
    if (this.has(channel)) this.remove(channel);
    this.#all = this.#all.concat([subscription]);
    if (this.#byChannel !== undefined) this.#byChannel.set(channel, subscription);
    else if (this.#all.length > few) {
      this.#byChannel = new Map(this.#all.map((one) => [one.channel, one]));
    }
    this.#list = undefined;
  }

  /** One of them began, or its grant changed. */
  changed(): void {
    this.#list = undefined;
  }

  remove(channel: string): void {
    this.#all = this.#all.filter((one) => one.channel !== channel);
    this.#byChannel?.delete(channel);
    this.#list = undefined;
  }

  clear(): void {
    this.#all = [];
    this.#byChannel = undefined;
    this.#list = undefined;
  }

  #find(channel: string): Subscription | undefined {
    if (this.#byChannel !== undefined) return this.#byChannel.get(channel);
    return this.#all.find((one) => one.channel === channel);
  }
}

/** So many are found by looking at all of them as fast as in a map. */
const few = 8;
