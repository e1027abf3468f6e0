/** What can be wrong with a history. docs/guarantees.md says the same in plain words. */
export type ViolationKind =
  /** A publication that a subscription spans was never heard, and nothing was said. */
  | "lost"
  /** Heard twice by one subscriber. */
  | "doubled"
  /** Offsets jump without a signal. */
  | "hole"
  /** Heard in another order than by others, or than it was acknowledged. */
  | "swapped"
  /** What somebody saw is gone: another publication has its offset, or the stream stands before it, or is another one. */
  | "forgotten"
  /** Refused for certain, or removed, and heard all the same. */
  | "resurrected"
  /** One publish stands at two places. */
  | "republished"
  /** Nobody published it, or not here. */
  | "invented"
  /** A client was told that it published before it heard that itself. */
  | "late"
  /** Presence names somebody who isn't there, or not somebody who is. */
  | "presence"
  /** Told that it can't recover, though everything it missed was there. */
  | "needless"
  /** Without the position that its channel promises. */
  | "unpositioned"
  /** Heard without being subscribed. */
  | "stray"
  /** Not subscribed again when all had settled. */
  | "absent";

/** Where in what one subscriber should have heard a loss lies. */
export type LossPlace = "first" | "middle" | "last";

export interface Violation {
  readonly kind: ViolationKind;
  readonly channel: string;
  /** Who saw it. */
  readonly process: string;
  /** When it was noticed, µs. */
  readonly time: number;
  /** What exactly, in a sentence that names values and offsets. */
  readonly text: string;
  readonly place?: LossPlace;
}

export interface CheckResult {
  /** The first thousand. */
  readonly violations: readonly Violation[];
  /** All of them, by kind. */
  readonly violationCounts: ReadonlyMap<ViolationKind, number>;
  readonly lossCounts: ReadonlyMap<LossPlace, number>;
  readonly counts: CheckCounts;
  /** Faults that ended, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** µs from the end of a subscription to the reply that recovered it, in the order in which that happened. */
  readonly recoveryTimes: readonly number[];
}

interface CheckCounts {
  /** Publications heard and checked, each by each subscriber. */
  readonly deliveries: number;
  readonly published: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Publishes that nobody answered, and how many of them were heard. */
  readonly unknown: number;
  readonly unknownReceived: number;
  readonly subscribers: number;
  readonly channels: number;
  /** Subscribe replies that recovered, and those that said they couldn't. */
  readonly recoveries: number;
  readonly failedRecoveries: number;
  /** 2500 and 3010. */
  readonly signals: number;
  readonly presenceChecks: number;
}
