import type { KeptPosition, SubscriptionSnapshot } from "./snapshot.ts";
import type { Subscription } from "./subscription.ts";

/** One session's subscriptions, with those it is just asking for. */
export class Subscriptions {
  readonly #entries = new Map<string, Entry>();
  readonly #kept = new Map<string, KeptPosition>();
  /** The snapshots of those that have begun; undefined after a change. */
  #list: readonly SubscriptionSnapshot[] | undefined;

  get size(): number {
    return this.#entries.size;
  }

  has(channel: string): boolean {
    return this.#entries.has(channel);
  }

  /** The subscription to a channel, if it has begun. */
  get(channel: string): Subscription | undefined {
    const entry = this.#entries.get(channel);
    return entry?.begun === true ? entry.subscription : undefined;
  }

  /** Those that have begun, as they are to be remembered. The same array until one changes. */
  get list(): readonly SubscriptionSnapshot[] {
    return (this.#list ??= [...this.#entries.values()]
      .filter(({ begun }) => begun)
      .map(({ granted }) => granted));
  }

  /** The snapshots of all of them, the ones asked for included: there must be room for those, too. */
  get granted(): readonly SubscriptionSnapshot[] {
    return [...this.#entries.values()].map(({ granted }) => granted);
  }

  /** All of them, the ones asked for included. */
  get all(): readonly Subscription[] {
    return [...this.#entries.values()].map(({ subscription }) => subscription);
  }

  get kept(): ReadonlyMap<string, KeptPosition> {
    return this.#kept;
  }

  /** When the first of them ends, in seconds since 1970; 0 for never. */
  get expireAtSeconds(): number {
    let first = 0;
    for (const { expireAtSeconds } of this.list) {
      if (expireAtSeconds !== 0 && (first === 0 || expireAtSeconds < first))
        first = expireAtSeconds;
    }
    return first;
  }

  /** A subscription is asked for; or, when it slept, has begun long ago. */
  add(subscription: Subscription, granted: SubscriptionSnapshot, begun: boolean): void {
    this.#entries.set(subscription.channel, { subscription, granted, begun });
    if (subscription.kept !== undefined) this.#kept.set(subscription.channel, subscription.kept);
    this.#list = undefined;
  }

  begin(channel: string): void {
    const entry = this.#entries.get(channel);
    if (entry !== undefined) this.#entries.set(channel, { ...entry, begun: true });
    this.#list = undefined;
  }

  /** Something of the grant changed. */
  replace(granted: SubscriptionSnapshot): void {
    const entry = this.#entries.get(granted.channel);
    if (entry !== undefined) this.#entries.set(granted.channel, { ...entry, granted });
    this.#list = undefined;
  }

  keep(channel: string, position: KeptPosition): void {
    this.#kept.set(channel, position);
  }

  /** What was noted isn't true any more. */
  forgetKept(channel: string): void {
    this.#kept.delete(channel);
  }

  remove(channel: string): void {
    this.#entries.delete(channel);
    this.#kept.delete(channel);
    this.#list = undefined;
  }

  clear(): void {
    this.#entries.clear();
    this.#kept.clear();
    this.#list = undefined;
  }
}

interface Entry {
  readonly subscription: Subscription;
  readonly granted: SubscriptionSnapshot;
  /** The client has been told, or is about to be, that it is subscribed. */
  readonly begun: boolean;
}
