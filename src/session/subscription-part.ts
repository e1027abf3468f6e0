import type { Subscription } from "./subscription.ts";

/** What a feature keeps of the subscriptions of one object. */
export interface SubscriptionPart {
  /** A subscription has been restored after hibernation. */
  restore(subscription: Subscription): void;
  /** A subscription has ended, or a pending one was cancelled. */
  leave(subscription: Subscription): void;
}

/** The class of a part, or an abstract class that it extends. */
export type PartClass<Part> = abstract new (...setup: never[]) => Part;

/** Finds a part by its class; undefined if there is none of it. */
export function partOf<Part>(
  parts: readonly SubscriptionPart[],
  wanted: PartClass<Part>,
): Part | undefined {
  return parts.find((part): part is SubscriptionPart & Part => part instanceof wanted);
}
