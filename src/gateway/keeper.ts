import type { KeptPosition } from "../contract/session-snapshot.ts";
import type { Subscription } from "../session/subscription.ts";
import { keptOf, type Reached } from "./cursor.ts";

/**
 * Notes how far a gateway is with a channel, where it survives sleep: in one subscriber's attachment (rule L7), so that a
 * batch costs one attachment and not one for each subscriber.
 */
export class Keeper {
  #keeper: Subscription | undefined;
  /** What it holds. */
  #written: Reached | undefined;
  /** They had no room when they were last asked, the longest ago first. They may have it again. Undefined while all have. */
  #refused: Set<Subscription> | undefined;
  /** For what some of them were asked again. */
  #askedFor: Reached | undefined;

  /** A subscription woke, and holds what was noted. */
  restored(subscription: Subscription, reached: Reached): void {
    this.#keeper = subscription;
    this.#written = reached;
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
  keep(reached: Reached, subscriptions: Iterable<Subscription>): void {
    if (this.#written === reached) return;
    const kept = keptOf(reached);
    if (this.#keeper === undefined || !this.#keptBy(this.#keeper, kept)) {
      const again = this.#askedFor === reached ? [] : first(askedAgain, this.#refused ?? []);
      this.#keeper = this.#find(kept, subscriptions, again);
      this.#askedFor = this.#refused === undefined ? undefined : reached;
    }
    this.#written = this.#keeper === undefined ? undefined : reached;
  }

  /** Asks everybody once, and then a few again for each batch: all of them may be thousands. */
  #find(
    kept: KeptPosition,
    subscriptions: Iterable<Subscription>,
    again: readonly Subscription[],
  ): Subscription | undefined {
    for (const subscription of subscriptions) {
      if (this.#refused?.has(subscription) === true) continue;
      if (this.#keptBy(subscription, kept)) return subscription;
    }
    return again.find((subscription) => this.#keptBy(subscription, kept));
  }

  #keptBy(subscription: Subscription, kept: KeptPosition): boolean {
    // The last one that was asked comes last.
    this.#accept(subscription);
    if (subscription.keep(kept)) return true;
    this.#refused ??= new Set();
    this.#refused.add(subscription);
    return false;
  }

  #accept(subscription: Subscription): void {
    this.#refused?.delete(subscription);
    if (this.#refused?.size === 0) this.#refused = undefined;
  }
}

function first(count: number, subscriptions: Iterable<Subscription>): readonly Subscription[] {
  const found: Subscription[] = [];
  for (const subscription of subscriptions) {
    if (found.length >= count) break;
    found.push(subscription);
  }
  return found;
}

/** Enough that a crowd is asked in a while, and too few to be noticed beside sending a batch to it. */
const askedAgain = 4;
