import { Records } from "../../support/records.ts";
import type { ChannelOpened } from "./history-event.ts";
import { Order } from "./deliveries/order.ts";
import type { PublicationRecord } from "./publication-record.ts";
import { StreamRecord } from "./stream-record.ts";
import { SubscriptionRecord } from "./subscription-record.ts";
import type { Violation } from "./check-result.ts";

/** The publications of a stream up to an offset were removed at a time, in µs. */
export interface Removal {
  readonly time: number;
  readonly stream: StreamRecord;
  readonly upTo: number;
}

/** A violation that a later crash may still excuse. */
export interface Doubt {
  readonly publication: PublicationRecord;
  readonly violation: Violation;
}

/** A publish that was acknowledged without a position. */
export interface Unplaced {
  readonly process: string;
  readonly time: number;
}

/** Everything that the history says about one channel. */
export class ChannelRecord {
  readonly name: string;
  recovery: ChannelOpened["recovery"] = "stream";
  recoverable: number | undefined;
  readonly publications = new Map<string, PublicationRecord>();
  /** The values that a backend had published in place of those that clients published, by the latter. */
  readonly changed = new Map<string, string>();
  /** In the order in which they were acknowledged. */
  readonly acknowledged: PublicationRecord[] = [];
  /**
   * Publications whose acknowledgement lacks the position that their publisher should get. Each publisher wasn't a
   * subscriber by then.
   */
  readonly unplaced = new Map<PublicationRecord, Unplaced>();
  /** The subscribers' records, by process. */
  readonly subscriptions = new Records((process) => new SubscriptionRecord(process));
  readonly streams = new Map<string, StreamRecord>();
  /** The newest epoch that the history mentions. */
  stream: StreamRecord | undefined;
  readonly order = new Order();
  /** When its object crashed, µs, ascending. */
  readonly crashes: number[] = [];
  readonly removals: Removal[] = [];
  /** Times of the last removal or loss of publications, and of the last loss of the whole stream, µs. */
  forgottenTime = -Infinity;
  streamForgottenTime = -Infinity;
  /** How often the whole stream was lost without a new epoch in the history so far. */
  newEpochsDue = 0;
  readonly doubts: Doubt[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** The publication of a value, as its publisher knows it; a backend may have had another one published in its place. */
  published(value: string): PublicationRecord | undefined {
    return this.publications.get(this.changed.get(value) ?? value);
  }

  /**
   * The record of an epoch. An epoch that the history hasn't mentioned yet becomes the channel's current one.
   *
   * @param promptMicroseconds a new epoch may appear so much later than the loss that caused it
   */
  streamOf(
    epoch: string,
    time: number,
    promptMicroseconds: number,
  ): { readonly stream: StreamRecord; readonly replaced: StreamRecord | undefined } {
    const known = this.streams.get(epoch);
    if (known !== undefined) return { stream: known, replaced: undefined };
    const before = this.stream;
    const stream = new StreamRecord(epoch, time);
    this.streams.set(epoch, stream);
    this.stream = stream;
    if (before === undefined) {
      // A loss before the first epoch became known has had its effect.
      this.newEpochsDue = 0;
      return { stream, replaced: undefined };
    }
    const forgotten = this.streamForgottenTime;
    const isDue =
      forgotten >= before.knownTime ||
      (this.newEpochsDue > 0 && forgotten >= before.knownTime - promptMicroseconds);
    if (this.newEpochsDue > 0) this.newEpochsDue--;
    return { stream, replaced: isDue ? undefined : before };
  }

  /**
   * Whether the object crashed between the publish and the time at which the publication should have been delivered.
   */
  excuses(publication: PublicationRecord, promptMicroseconds: number): boolean {
    const until = publication.acknowledgedTime + promptMicroseconds;
    return this.crashes.some((time) => time >= publication.invokedTime && time <= until);
  }
}
