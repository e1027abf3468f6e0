import type { Publication, StreamPosition } from "../protocol/publication.ts";

/** The outcome of `Channel.publish`. */
export type PublishOutcome =
  /** The publication was accepted; the position is absent if it went without history. */
  | { readonly outcome: "published"; readonly position?: StreamPosition }
  /** Nothing was done: `ifOffset` isn't the top's offset (rule Z13). */
  | { readonly outcome: "position-mismatch"; readonly position: StreamPosition }
  /** Nothing was done: the idempotency key was published before (rule I1), or the version isn't newer (rule H9). */
  | {
      readonly outcome: "suppressed";
      readonly position?: StreamPosition;
      /** Why a key wasn't changed (rule Z7), for the answer to a backend; absent for a publication without a key. */
      readonly reason?: string;
      /** Of the key's last change; 0 if there is no such key. */
      readonly currentOffset?: number;
    }
  /** Nothing was done; the same publish may succeed a little later (rule I4). */
  | { readonly outcome: "too-many-keys" };

/** The outcome of `Channel.subscribe`. */
export type SubscribeOutcome =
  | {
      readonly outcome: "subscribed";
      /** Absent if the subscription keeps no position. */
      readonly position?: StreamPosition;
      readonly recovered: boolean;
      readonly publications: readonly Publication[];
    }
  | { readonly outcome: "unrecoverable-position" };

/** How a subscription begins. */
export interface SubscribeOptions {
  /** Whether the subscription keeps a position. */
  readonly positioned: boolean;
  /** The position up to which the subscriber has everything; absent if it recovers nothing. */
  readonly since?: StreamPosition;
  /** The top when its last page of a map was read: it begins there or later (rule Z2). Absent: as of `since`. */
  readonly readOffset?: number;
  /**
   * stream: recover every publication after `since`. cache: recover the newest publication, unless the subscriber is at
   * the top (docs/protocol.md 2.4).
   */
  readonly mode: "stream" | "cache";
  /** Whether a subscribe that can't recover is refused, and doesn't begin without what it missed (rule R5). */
  readonly orFail: boolean;
}

/** Where one channel's publications are counted. A feature that keeps keys adds their counts in its folder. */
export interface ChannelCounts {
  readonly published: { value: number };
  /** Suppressed by an idempotency key. */
  readonly repeated: { value: number };
  /** Suppressed by a version. */
  readonly outdated: { value: number };
  readonly deliveries: { value: number };
  readonly gatewayChanges: { value: number };
}
