import type { LossPlace } from "./check-result.ts";
import { RankSet } from "./rank-set.ts";
import type { PublicationRecord } from "./publication-record.ts";
import type { StreamRecord } from "./stream-record.ts";

/** Offsets that a subscription passed over, both included. */
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
  /** It left, and won't come back unless it says so. */
  hasLeft = false;
  /** The number of the happening that subscribed it. */
  since = 0;
  /** How much it heard in this subscription. */
  received = 0;
  /** When it was subscribed or heard something, µs. */
  lastTime = 0;
  /** When it ceased to be subscribed, µs; absent before its first subscription, and while subscribed. */
  detachedTime: number | undefined;

  /** Where it stands, or stood when its subscription ended; absent where there are no offsets, and when it forgot. */
  stream: StreamRecord | undefined;
  position = 0;
  /** With cache recovery: what comes first may pass over others, if it stands at this offset or after it. */
  mayJump = false;
  jumpFloor = 0;
  /** What stands up to here was removed before it asked for this subscription. */
  removedUpTo = 0;
  /** What this subscription has passed over so far. */
  readonly gaps: Gap[] = [];

  /** Without offsets: what this subscription heard, and what of that was heard last and was invoked last. */
  ranks = new RankSet();
  /** When this subscription began, µs. */
  sinceTime = 0;
  lastReceived: PublicationRecord | undefined;
  latestInvoked: PublicationRecord | undefined;
  /** So many of the channel's acknowledged publishes have been compared with what it heard. */
  frontier = 0;
  /** What this subscription should have heard by now. */
  readonly missing = new Map<PublicationRecord, LossPlace>();

  constructor(process: string) {
    this.process = process;
  }

  /** Without offsets each subscription stands for itself: a gateway that it moved to may be behind the one before. */
  beginAnew(): void {
    this.ranks = new RankSet();
    this.lastReceived = undefined;
    this.latestInvoked = undefined;
  }
}
