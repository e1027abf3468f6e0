import type { LossPlace } from "./check-result.ts";
import { RankSet } from "./deliveries/rank-set.ts";
import type { PublicationRecord } from "./publication-record.ts";
import type { StreamRecord } from "./stream-record.ts";

/** Offsets that a subscription skipped, both included. */
export interface Gap {
  from: number;
  to: number;
  readonly place: LossPlace;
}

/** One subscriber of one channel, through all its subscriptions. */
export class SubscriptionRecord {
  readonly process: string;
  client = "";
  isAttached = false;
  /** The client left and returns only if an event says so. */
  hasLeft = false;
  /** The number of the event that began the subscription. */
  since = 0;
  /** How many publications this subscription received. */
  received = 0;
  /** When the subscriber was last subscribed or received a publication, µs. */
  lastTime = 0;
  /** When the last subscription ended, µs; absent before the first subscription, and while subscribed. */
  detachedTime: number | undefined;

  /**
   * The subscriber's position, also after its subscription ended; absent without offsets, and after the client forgot
   * it.
   */
  stream: StreamRecord | undefined;
  position = 0;
  /** With cache recovery: the first delivery may skip publications if its offset is at least this one. */
  mayJump = false;
  jumpFloor = 0;
  /** Publications up to this offset were removed before the client subscribed. */
  removedUpTo = 0;
  /** The gaps of this subscription so far. */
  readonly gaps: Gap[] = [];

  /**
   * Without offsets: the publications that this subscription received, the last of them, and the one that was invoked
   * last.
   */
  ranks = new RankSet();
  /** When this subscription began, µs. */
  sinceTime = 0;
  lastReceived: PublicationRecord | undefined;
  latestInvoked: PublicationRecord | undefined;
  /** So many of the channel's acknowledged publishes have been compared with the deliveries. */
  frontier = 0;
  /** Publications that this subscription should have received by now. */
  readonly missing = new Map<PublicationRecord, LossPlace>();

  constructor(process: string) {
    this.process = process;
  }

  /**
   * Without offsets each subscription is checked by itself: the client may have moved to a gateway that lags behind the
   * one before.
   */
  beginAnew(): void {
    this.ranks = new RankSet();
    this.lastReceived = undefined;
    this.latestInvoked = undefined;
  }
}
