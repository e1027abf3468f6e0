import type { ReceivedEdge } from "./order.ts";
import type { StreamRecord } from "./stream-record.ts";

/** What is known of one publish, and of the publication that it made. */
export interface PublicationRecord {
  readonly value: string;
  /** The number of the happening that invoked it. */
  readonly invokedAt: number;
  readonly invokedTime: number;
  /** How many publishes to the channel had been acknowledged when it was invoked. */
  readonly after: number;
  outcome: "open" | "acknowledged" | "refused" | "unknown";
  /** The number of the happening that acknowledged it, and its time; infinite before. */
  acknowledgedAt: number;
  acknowledgedTime: number;
  /** Where it stands, once somebody said it. */
  stream: StreamRecord | undefined;
  offset: number;
  /** Who said it. */
  placedBy: string;
  /** Who heard it first. */
  receivedBy: string | undefined;
  /** Without offsets: how many others had been heard before anybody heard it; -1 before. */
  rank: number;
  /** Without offsets: what subscribers heard next. The first edge stands apart, for mostly there is no other. */
  next: ReceivedEdge | undefined;
  otherNext: ReceivedEdge[] | undefined;
}

/**
 * A publish that was just invoked.
 *
 * @param after how many publishes to the channel have been acknowledged
 */
export function invoked(
  value: string,
  invokedAt: number,
  invokedTime: number,
  after: number,
): PublicationRecord {
  return {
    value,
    invokedAt,
    invokedTime,
    after,
    outcome: "open",
    acknowledgedAt: Infinity,
    acknowledgedTime: Infinity,
    stream: undefined,
    offset: 0,
    placedBy: "",
    receivedBy: undefined,
    rank: -1,
    next: undefined,
    otherNext: undefined,
  };
}
