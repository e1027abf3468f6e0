import type { KeyChange } from "../contract/poll-batch.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { TrackedKey } from "../shared-poll/tracked-keys.ts";
import type { Subscription } from "./subscription.ts";

/**
 * The keys of shared polls as a session tracks them (docs/protocol.md 3.5). On a channel's own object the replies come
 * at once, on a gateway when the channel's object has replied. Each `done` is called at most once. None of these calls
 * throws.
 */
export interface Tracking {
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

/** The outcome of {@link Tracking.epoch}. */
export type EpochReply = { readonly outcome: "epoch"; readonly epoch: string } | FailedTracking;

/** The outcome of {@link Tracking.track}: what is newer than what the client has. */
export type TrackReply =
  | { readonly outcome: "tracking"; readonly newer: readonly KeyChange[] }
  | FailedTracking;

interface FailedTracking {
  readonly outcome: "failed";
  readonly error: ErrorCode;
}
