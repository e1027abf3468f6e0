import type { Subscription } from "./subscription.ts";

/** What a feature keeps of the subscriptions of one object. */
export interface SubscriptionPart {
  /** A subscription has been restored after hibernation. */
  restore?(subscription: Subscription): void;
  /** A subscription has ended, or a pending one was cancelled. */
  leave?(subscription: Subscription): void;
}
