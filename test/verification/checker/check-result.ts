import type { BankCounts } from "./bank/banks.ts";
import type { ChangeCounts } from "./changes/changes.ts";
import type { GrowthCounts } from "./growth/growth.ts";

/** The kinds of violations of a history. test/verification/README.md describes them. */
export type ViolationKind =
  /** A subscription spans a publication that its subscriber never received, and the subscriber was told nothing. */
  | "lost"
  /** One subscriber received a publication twice. */
  | "doubled"
  /** Offsets jump without a signal. */
  | "hole"
  /** A subscriber received publications in another order than other subscribers, or than they were acknowledged. */
  | "swapped"
  /** An observed offset has another publication, the stream ends before it, or the epoch is another one. */
  | "forgotten"
  /** A publication was delivered although its publish was refused for certain, or although it was removed. */
  | "resurrected"
  /** One publish has two positions. */
  | "republished"
  /** Nobody published this value, or not on this channel. */
  | "invented"
  /** A client got the reply to its publish before its own publication. */
  | "late"
  /** Presence lists a client that isn't subscribed, or lacks one that is. */
  | "presence"
  /** A client was told that it can't recover although everything it missed was available. */
  | "needless"
  /** A user is said to have got what none of the user's clients has received. */
  | "unproven"
  /** What a user has read, or is known to have got, went back. */
  | "regressed"
  /** A user is said to have more or fewer unread publications than there are. A bank has more or less money. */
  | "miscounted"
  /** A subscribe reply lacks the position that its channel promises. */
  | "unpositioned"
  /** A copy of a map has another value for a key than the map has at the copy's offset. */
  | "diverged"
  /** A publication was delivered without a subscription. */
  | "stray"
  /** A subscription wasn't restored when everything had settled. */
  | "absent"
  /** Something reached a connection or a subscription that an acknowledged order had ended. */
  | "unheeded"
  /** A user got in although a block of the user, or that the token isn't valid any more, had been acknowledged. */
  | "admitted"
  /** A backend hadn't allowed it: a connect, a subscription, a publication, or the reply to a call. */
  | "unapproved"
  /** A backend was never told of something, or not that it is over, or numbers of its events are missing. */
  | "untold"
  /** A backend was told of something twice, in another order, or otherwise than it happened; so was who called a bank. */
  | "mistold";

/** Where a loss lies among the publications of one subscription. */
export type LossPlace = "first" | "middle" | "last";

export interface Violation {
  readonly kind: ViolationKind;
  /** Empty if the violation is about no channel. */
  readonly channel: string;
  /** The subscriber or publisher that observed the violation. */
  readonly process: string;
  /** When the checker noticed the violation, µs. */
  readonly time: number;
  /** A sentence that names values and offsets. */
  readonly text: string;
  readonly place?: LossPlace;
}

export interface CheckResult {
  /** The first thousand violations. */
  readonly violations: readonly Violation[];
  /** The number of all violations, by kind. */
  readonly violationCounts: ReadonlyMap<ViolationKind, number>;
  readonly lossCounts: ReadonlyMap<LossPlace, number>;
  readonly counts: CheckCounts;
  /** Faults that ended, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** Answers of backends that the server asked, by the hook and the kind of answer, such as `publish late`. */
  readonly hookAnswers: ReadonlyMap<string, number>;
  /** Events that a backend took for the first time, by their type. */
  readonly events: ReadonlyMap<string, number>;
  /** µs from the end of a subscription to the reply that recovered it, in the order in which that happened. */
  readonly recoveryTimes: readonly number[];
}

interface CheckCounts {
  /** Publications delivered and checked, counted once for each subscriber. */
  readonly deliveries: number;
  readonly published: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Publishes without an outcome, and how many of these were delivered. */
  readonly unknown: number;
  readonly unknownReceived: number;
  readonly subscribers: number;
  readonly channels: number;
  /** Subscribe replies that recovered, and those that said that recovery failed. */
  readonly recoveries: number;
  readonly failedRecoveries: number;
  /** Signals of insufficient state: 2500 and 3010. */
  readonly signals: number;
  readonly presenceChecks: number;
  /** Answers to calls of clients that were compared with what the backend said. */
  readonly calls: number;
  /** Events that a backend took again. */
  readonly repeatedEvents: number;
  /** States of maps that were compared with the changes before them. */
  readonly mapStates: number;
  /** Changes of maps that were asked for. */
  readonly mapChanges: number;
  /** What happened to texts that grow. */
  readonly growth: GrowthCounts;
  /** What happened to banks. */
  readonly banks: BankCounts;
  /** What happened to publications that are changed. */
  readonly changes: ChangeCounts;
  /** Orders for users that the backend was told have been carried out. */
  readonly orders: number;
  /** Answers to marks of users, to questions for what is unread and to those for what has arrived that were compared. */
  readonly marks: number;
  readonly unreadCounts: number;
  readonly arrivals: number;
  /** What clients were shown of users' marks, and how often all that one shows was compared with all marks. */
  readonly receipts: number;
  readonly receiptStates: number;
}
