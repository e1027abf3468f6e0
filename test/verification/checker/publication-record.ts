import type { ReceivedEdge } from "./deliveries/order.ts";
import type { StreamRecord } from "./stream-record.ts";

/** What the history says about one publish and its publication. */
export interface PublicationRecord {
  /** A backend may have it changed before it is published. */
  value: string;
  /** Whether a backend has to allow the publish, and what it said. */
  approval: "unneeded" | "awaited" | "given" | "refused";
  /** The number of the event that invoked the publish. */
  readonly invokedAt: number;
  readonly invokedTime: number;
  /** How many publishes to the channel had been acknowledged before the publish began. */
  readonly after: number;
  outcome: "open" | "acknowledged" | "refused" | "unknown";
  /** The number of the event that acknowledged the publish, and its time; infinite before. */
  acknowledgedAt: number;
  acknowledgedTime: number;
  /** The publication's position, once an event stated it. */
  stream: StreamRecord | undefined;
  offset: number;
  /** The process that stated the position. */
  placedBy: string;
  /** The first process that received the publication. */
  receivedBy: string | undefined;
  /** Without offsets: how many other publications had been delivered before this one; -1 before its first delivery. */
  rank: number;
  /**
   * Without offsets: the publications that subscribers received next. The first edge has a field of its own, because
   * mostly there is no other.
   */
  next: ReceivedEdge | undefined;
  otherNext: ReceivedEdge[] | undefined;
}

/**
 * The record of a publish that begins.
 *
 * @param after how many publishes to the channel have been acknowledged
 * @param asks  whether a backend has to allow it
 */
export function invoked(
  value: string,
  invokedAt: number,
  invokedTime: number,
  after: number,
  asks: boolean,
): PublicationRecord {
  return {
    value,
    approval: asks ? "awaited" : "unneeded",
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
