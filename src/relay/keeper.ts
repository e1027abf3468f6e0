import type { KeptPosition } from "../session/snapshot.ts";
import type { Subscription } from "../session/subscription.ts";
import { keptOf, type Reached } from "./reached.ts";

/**
 * Notes how far a gateway is with a channel, where it survives sleep: in one subscriber's attachment (rule L7), so that a
 * batch costs one attachment and not one for each subscriber.
 */
export class Keeper {
  #keeper: Subscription | undefined;
  /** What it holds. */
  #written: Reached | undefined;
  /** They have no room. Each is asked once, or thousands would be asked for each batch. */
  #refused = new WeakSet<Subscription>();

  /** A subscription woke, and holds what was noted. */
  restored(subscription: Subscription, reached: Reached): void {
    this.#keeper = subscription;
    this.#written = reached;
  }

  left(subscription: Subscription): void {
    if (subscription !== this.#keeper) return;
    this.#keeper = undefined;
    this.#written = undefined;
  }

  /** Everybody has left. */
  clear(): void {
    this.#keeper = undefined;
    this.#written = undefined;
  }

  /** Notes how far the gateway is, if that isn't noted yet. */
  keep(reached: Reached, subscriptions: Iterable<Subscription>): void {
    if (this.#written === reached) return;
    const kept = keptOf(reached);
    if (this.#keeper === undefined || !this.#keptBy(this.#keeper, kept)) {
      this.#keeper = undefined;
      for (const subscription of subscriptions) {
        if (this.#refused.has(subscription) || !this.#keptBy(subscription, kept)) continue;
        this.#keeper = subscription;
        break;
      }
    }
    this.#written = this.#keeper === undefined ? undefined : reached;
  }

  #keptBy(subscription: Subscription, kept: KeptPosition): boolean {
    if (subscription.keep(kept)) return true;
    this.#refused.add(subscription);
    return false;
  }
}
