import type { KeyChange } from "./poll-batch.ts";
import type { FailedReply } from "../../contract/channel-call.ts";
import type { TrackedKey } from "./tracked-keys.ts";
import type { SubscriptionPart } from "../../session/channels.ts";
import type { Subscription } from "../../session/subscription.ts";

/**
 * The keys of shared polls as a session tracks them (docs/protocol.md 3.5). On a channel's own object the replies come
 * at once, on a gateway when the channel's object has replied. Each `done` is called at most once. None of these calls
 * throws.
 */
export interface Tracking extends SubscriptionPart {
  /** Finds out the epoch of a channel's versions, with which a subscription begins. */
  epoch(channel: string, nowMs: number, done: (reply: EpochReply) => void): void;
  /** Tracks keys: from here on the subscription gets their changes, unless the reply is an error. */
  track(
    subscription: Subscription,
    keys: readonly TrackedKey[],
    nowMs: number,
    done: (reply: TrackReply) => void,
  ): void;
  /** Ceases to track keys. */
  untrack(subscription: Subscription, keys: readonly string[]): void;
}

/** Whether a part of an object is its tracking. */
export function isTracking(part: SubscriptionPart): part is Tracking {
  return "epoch" in part;
}

/** The outcome of {@link Tracking.epoch}. */
export type EpochReply = { readonly outcome: "tracking"; readonly epoch: string } | FailedReply;

/** The outcome of {@link Tracking.track}: what is newer than what the client has. */
export type TrackReply =
  | { readonly outcome: "tracking"; readonly newer: readonly KeyChange[] }
  | FailedReply;
