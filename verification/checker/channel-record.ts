import type { ChannelOpened } from "./history-event.ts";
import { Order } from "./order.ts";
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

/** A violation that a crash may yet turn out to excuse. */
export interface Doubt {
  readonly publication: PublicationRecord;
  readonly violation: Violation;
}

/** A publish was acknowledged without a position. */
export interface Unplaced {
  readonly process: string;
  readonly time: number;
}

/** All that is known of one channel. */
export class ChannelRecord {
  readonly name: string;
  recovery: ChannelOpened["recovery"] = "stream";
  recoverable: number | undefined;
  readonly publications = new Map<string, PublicationRecord>();
  /** In the order in which they were acknowledged. */
  readonly acknowledged: PublicationRecord[] = [];
  /** What was acknowledged without a position where there should be one, to who wasn't a subscriber until then. */
  readonly unplaced = new Map<PublicationRecord, Unplaced>();
  readonly subscriptions = new Map<string, SubscriptionRecord>();
  readonly streams = new Map<string, StreamRecord>();
  /** The newest epoch that anybody knows of. */
  stream: StreamRecord | undefined;
  readonly order = new Order();
  /** When its object crashed, µs, ascending. */
  readonly crashes: number[] = [];
  readonly removals: Removal[] = [];
  /** When something was last forgotten, and when the whole stream was, µs. */
  forgottenTime = -Infinity;
  streamForgottenTime = -Infinity;
  /** How often the whole stream was forgotten and no new epoch has been seen for it. */
  newEpochsDue = 0;
  readonly doubts: Doubt[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** The record of a subscriber, made if there is none. */
  subscription(process: string): SubscriptionRecord {
    const known = this.subscriptions.get(process);
    if (known !== undefined) return known;
    const made = new SubscriptionRecord(process);
    this.subscriptions.set(process, made);
    return made;
  }

  /**
   * The record of an epoch, which becomes the channel's if nobody knew it.
   *
   * @param promptMicroseconds so much later than what made it an epoch may be heard of
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
      // Whatever was forgotten before anybody knew the first epoch has had its effect.
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
   * Whether the object crashed between a publish and so long after its acknowledgement that it should have been told by then.
   */
  excuses(publication: PublicationRecord, promptMicroseconds: number): boolean {
    const until = publication.acknowledgedTime + promptMicroseconds;
    return this.crashes.some((time) => time >= publication.invokedTime && time <= until);
  }
}
