import type { Cursor, DeliveryNote, SubscriptionSnapshot } from "../contract/session-snapshot.ts";
import type { Message } from "../protocol/codec.ts";
import type { Subscription } from "./subscription.ts";

/**
 * A subscription that begins with several requests, of which only the first is looked at by the rules of a subscribe. The
 * subscription is pending meanwhile, and takes one of the connection's places. Flows live in memory alone.
 */
export interface SubscriptionFlow {
  readonly channel: string;
  readonly subscription: Subscription;
  /** Whether one of the flow's requests is being answered. */
  readonly answering: boolean;
  /** Whether the channel has been asked to begin the subscription, and hasn't answered. */
  readonly joining: boolean;
  /** Whether the client has taken longer than the namespace allows. */
  isOver(nowMs: number): boolean;
}

/**
 * One session's subscriptions, pending ones included. Most sessions have one or a few, and an object has thousands of
 * sessions, so the map by channel exists only for sessions with many.
 */
export class Subscriptions {
  #all: readonly Subscription[] = [];
  /** The same, by channel; undefined until there were more than `few`. */
  #byChannel: Map<string, Subscription> | undefined;
  /** The channels of {@link reserve}; undefined while there is none. */
  #reserved: Set<string> | undefined;
  /** The flows whose subscriptions are pending, by channel; undefined while there is none. */
  #flows: Map<string, SubscriptionFlow> | undefined;
  /** Cache of {@link begunSnapshots}; undefined after a change, and up to `few`. */
  #begunSnapshots: readonly SubscriptionSnapshot[] | undefined;

  /** How many there are, reserved ones included. */
  get size(): number {
    return this.#all.length + (this.#reserved?.size ?? 0);
  }

  /** Whether there is a subscription to a channel, or will perhaps be one. */
  has(channel: string): boolean {
    return this.#find(channel) !== undefined || this.#reserved?.has(channel) === true;
  }

  /** Keeps a place for a subscription to a channel, about which a backend is asked. */
  reserve(channel: string): void {
    this.#reserved ??= new Set();
    this.#reserved.add(channel);
  }

  /** Gives the place up again. */
  release(channel: string): void {
    this.#reserved?.delete(channel);
    if (this.#reserved?.size === 0) this.#reserved = undefined;
  }

  /** The flow in which the client subscribes to a channel; undefined if there is none. */
  flow(channel: string): SubscriptionFlow | undefined {
    return this.#flows?.get(channel);
  }

  /** Whether a client takes longer with a flow than the namespace allows. */
  hasOverdueFlow(nowMs: number): boolean {
    if (this.#flows === undefined) return false;
    for (const flow of this.#flows.values()) if (flow.isOver(nowMs)) return true;
    return false;
  }

  /** Adds a flow, with its subscription. */
  addFlow(flow: SubscriptionFlow): void {
    this.add(flow.subscription);
    this.#flows ??= new Map();
    this.#flows.set(flow.channel, flow);
  }

  /** The subscription of a flow is about to begin: it stays. */
  endFlow(channel: string): void {
    this.#flows?.delete(channel);
    if (this.#flows?.size === 0) this.#flows = undefined;
  }

  /**
   * Ends a flow that doesn't lead to a subscription, unless one of its requests is being answered.
   *
   * @returns whether there was one
   */
  dropFlow(channel: string): boolean {
    const flow = this.flow(channel);
    if (flow === undefined || flow.answering) return false;
    this.endFlow(channel);
    this.remove(channel);
    return true;
  }

  /** The subscription to a channel, if it has begun. */
  get(channel: string): Subscription | undefined {
    const subscription = this.#find(channel);
    return subscription?.begun === true ? subscription : undefined;
  }

  /**
   * The snapshots of those that have begun, which are saved. If there are many, the array stays the same until one of
   * them changes.
   */
  get begunSnapshots(): readonly SubscriptionSnapshot[] {
    if (this.#begunSnapshots !== undefined) return this.#begunSnapshots;
    const snapshots = this.#all.filter(({ begun }) => begun).map(({ granted }) => granted);
    if (snapshots.length > few) this.#begunSnapshots = snapshots;
    return snapshots;
  }

  /** The snapshots of all, pending ones included, which need room in the attachment as well. */
  get snapshots(): readonly SubscriptionSnapshot[] {
    return this.#all.map(({ granted }) => granted);
  }

  /** All, pending ones included. A change makes a new array, so this one can be iterated meanwhile. */
  get all(): readonly Subscription[] {
    return this.#all;
  }

  /** Those that their channels know: not the ones of flows, unless they are about to begin. */
  get joined(): readonly Subscription[] {
    if (this.#flows === undefined) return this.#all;
    return this.#all.filter(({ channel }) => this.flow(channel)?.joining !== false);
  }

  /** The cursors that this session stores for its gateway, by channel; undefined if there are none (rule L7). */
  get cursors(): ReadonlyMap<string, Cursor> | undefined {
    let cursors: Map<string, Cursor> | undefined;
    for (const { channel, cursor } of this.#all) {
      if (cursor === undefined) continue;
      cursors ??= new Map();
      cursors.set(channel, cursor);
    }
    return cursors;
  }

  /** What is noted of them, by channel; undefined if nothing is. */
  get notes(): ReadonlyMap<string, DeliveryNote> | undefined {
    let notes: Map<string, DeliveryNote> | undefined;
    for (const { channel, note } of this.#all) {
      if (note === undefined) continue;
      notes ??= new Map();
      notes.set(channel, note);
    }
    return notes;
  }

  /** The number of {@link cursors}. */
  get cursorCount(): number {
    let count = 0;
    for (const { cursor } of this.#all) if (cursor !== undefined) count++;
    return count;
  }

  /**
   * When the first one ends of those that have begun and that expire, ms since 1970; Infinity for never.
   *
   * @param delayMs how long after it has expired a subscription ends
   */
  endMs(delayMs: (granted: SubscriptionSnapshot) => number): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { begun, granted } of this.#all) {
      const { expireAtSeconds } = granted;
      if (begun && expireAtSeconds !== 0)
        first = Math.min(first, expireAtSeconds * 1_000 + delayMs(granted));
    }
    return first;
  }

  /** Adds a subscription, pending or restored. */
  add(subscription: Subscription): void {
    const { channel } = subscription;
    if (this.#find(channel) !== undefined) this.remove(channel);
    this.#all = this.#all.concat([subscription]);
    if (this.#byChannel !== undefined) this.#byChannel.set(channel, subscription);
    else if (this.#all.length > few) {
      this.#byChannel = new Map(this.#all.map((one) => [one.channel, one]));
    }
    this.#begunSnapshots = undefined;
  }

  /** Has to be called when a subscription has begun, or its grant has changed. */
  changed(): void {
    this.#begunSnapshots = undefined;
  }

  remove(channel: string): void {
    this.#all = this.#all.filter((one) => one.channel !== channel);
    this.#byChannel?.delete(channel);
    this.#begunSnapshots = undefined;
  }

  clear(): void {
    this.#all = [];
    this.#reserved = undefined;
    this.#flows = undefined;
    this.#byChannel = undefined;
    this.#begunSnapshots = undefined;
  }

  #find(channel: string): Subscription | undefined {
    if (this.#byChannel !== undefined) return this.#byChannel.get(channel);
    return this.#all.find((one) => one.channel === channel);
  }
}

/** Up to this number, looking at each subscription is as fast as a map. */
const few = 8;

/** The work that a session keeps for the end of its connect, or for the answer of the user's home. Most keep none. */
export class WaitingWork {
  /** Subscriptions whose join is announced when the user's home has answered (rule U4). */
  readonly announcements: Subscription[] = [];
  /** Pushes that follow the connect reply. */
  readonly pushes: Message[] = [];
  /** Orders that are carried out after the connect reply. */
  readonly works: (() => void)[] = [];
  /** Channels that an order ended before their subscribe was answered (rule U2). */
  readonly cancelled = new Set<string>();
}
