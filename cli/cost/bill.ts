import { prices } from "./prices.ts";

/** The quantities that Cloudflare bills. They may be fractions, because they are means. */
export interface Usage {
  readonly workerRequests: number;
  /** Requests of the Worker to objects. */
  readonly objectRequests: number;
  readonly callsBetweenObjects: number;
  /** Messages that clients send to objects. */
  readonly incomingMessages: number;
  /** The time of all objects together during which they can't hibernate: hibernated objects cost nothing. */
  readonly awakeSeconds: number;
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly alarmsSet: number;
  readonly alarmsRung: number;
}

/** Dollars, by item. */
export interface Bill {
  readonly workerRequests: number;
  readonly objectRequests: number;
  readonly duration: number;
  readonly rows: number;
  readonly total: number;
}

/**
 * The cost of a usage beyond the monthly allowance:
 *
 *     workerRequests × $0.30/M
 *     + (objectRequests + callsBetweenObjects + alarmsRung + incomingMessages / 20) × $0.15/M
 *     + awakeSeconds × 0.125 GB × $12.50/M
 *     + (rowsWritten + alarmsSet) × $1.00/M + rowsRead × $0.001/M
 */
export function billOf(usage: Usage): Bill {
  const requests =
    usage.objectRequests +
    usage.callsBetweenObjects +
    usage.alarmsRung +
    usage.incomingMessages / prices.incomingMessagesPerRequest;
  const workerRequests = usage.workerRequests * prices.workerRequest;
  const objectRequests = requests * prices.objectRequest;
  const duration = usage.awakeSeconds * prices.objectGigabytes * prices.gigabyteSecond;
  const rows =
    (usage.rowsWritten + usage.alarmsSet) * prices.rowWritten + usage.rowsRead * prices.rowRead;
  const total = workerRequests + objectRequests + duration + rows;
  return { workerRequests, objectRequests, duration, rows, total };
}

/** The usage of one publication, as the bench counted it. */
export interface PublicationCounts {
  readonly objectRequests: number;
  readonly callsBetweenObjects: number;
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly alarmsSet: number;
  readonly alarmsRung: number;
}

/** How publications are made, and how long they keep objects awake. */
export interface Publishing {
  readonly counts: PublicationCounts;
  /** Publications in one request of the backend. */
  readonly publicationsPerRequest: number;
  readonly deliveriesPerPublication: number;
  /** An object's time for one delivery. */
  readonly secondsPerDelivery: number;
  /** How long an object waits for storage or for another object's answer with each publication, in addition. */
  readonly secondsPerPublication: number;
}

/** The usage of so many deliveries to subscribers. */
export function deliveryUsage(publishing: Publishing, deliveries: number): Usage {
  const { counts, publicationsPerRequest, deliveriesPerPublication } = publishing;
  const publications = deliveries / deliveriesPerPublication;
  return {
    workerRequests: publications / publicationsPerRequest,
    objectRequests: publications * counts.objectRequests,
    callsBetweenObjects: publications * counts.callsBetweenObjects,
    incomingMessages: 0,
    awakeSeconds:
      deliveries * publishing.secondsPerDelivery + publications * publishing.secondsPerPublication,
    rowsWritten: publications * counts.rowsWritten,
    rowsRead: publications * counts.rowsRead,
    alarmsSet: publications * counts.alarmsSet,
    alarmsRung: publications * counts.alarmsRung,
  };
}

/** Connections with nothing but keep-alive. */
export interface Idling {
  readonly connections: number;
  readonly seconds: number;
  /** The side that pings: the client, or the object. */
  readonly keepAlive: "client" | "server";
  /**
   * Who takes what the clients send: the platform, which answers it while the object hibernates, or the object, as in a
   * binary format; "nobody" if clients aren't asked to send anything.
   */
  readonly takenBy: "platform" | "object" | "nobody";
  /** Whether a message is billed although the platform answers it; Cloudflare doesn't say. */
  readonly answeredMessagesAreBilled: boolean;
  readonly pingIntervalSeconds: number;
  /** Connections of one object, which wakes for all of them together. */
  readonly connectionsPerObject: number;
  /** An object's time for sending one ping; taking the answer to it takes as much again. */
  readonly secondsPerPing: number;
}

/** The usage of keeping connections alive. */
export function idleUsage(idling: Idling): Usage {
  const { connections, seconds, takenBy } = idling;
  const pings = (connections * seconds) / idling.pingIntervalSeconds;
  const isBilled =
    takenBy === "object" || (takenBy === "platform" && idling.answeredMessagesAreBilled);
  const usage = { ...noUsage, incomingMessages: isBilled ? pings : 0 };
  if (idling.keepAlive === "client") return usage;
  const objects = connections / idling.connectionsPerObject;
  const ticks = pings / idling.connectionsPerObject;
  const secondsPerPing = idling.secondsPerPing * (takenBy === "object" ? 2 : 1);
  // An object can't be awake for longer than the time that passes.
  const awakeSeconds = Math.min(pings * secondsPerPing, objects * seconds);
  return { ...usage, awakeSeconds, alarmsSet: ticks, alarmsRung: ticks };
}

/** No usage at all. */
export const noUsage: Usage = {
  workerRequests: 0,
  objectRequests: 0,
  callsBetweenObjects: 0,
  incomingMessages: 0,
  awakeSeconds: 0,
  rowsWritten: 0,
  rowsRead: 0,
  alarmsSet: 0,
  alarmsRung: 0,
};
