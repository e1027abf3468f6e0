import { prices } from "./prices.ts";

/** What Cloudflare counts. All of them may be fractions: they are means. */
export interface Usage {
  readonly workerRequests: number;
  /** Of the Worker to objects. */
  readonly objectRequests: number;
  readonly callsBetweenObjects: number;
  /** That clients sent and objects got. */
  readonly incomingMessages: number;
  /** Of all objects together, while they can't sleep: idle objects cost nothing. */
  readonly awakeSeconds: number;
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly alarmsSet: number;
  readonly alarmsRung: number;
}

/** Dollars, by what they are for. */
export interface Bill {
  readonly workerRequests: number;
  readonly objectRequests: number;
  readonly duration: number;
  readonly rows: number;
  readonly total: number;
}

/**
 * What a usage costs beyond what is included each month:
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

/** What one publication takes, as the bench counted it. */
export interface PublicationCounts {
  readonly objectRequests: number;
  readonly callsBetweenObjects: number;
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly alarmsSet: number;
  readonly alarmsRung: number;
}

/** How publications come, and how long they keep objects awake. */
export interface Publishing {
  readonly counts: PublicationCounts;
  /** Publications that one request of the backend carries; 1 for single ones. */
  readonly publicationsPerRequest: number;
  readonly deliveriesPerPublication: number;
  /** The time that one delivery takes of an object. */
  readonly secondsPerDelivery: number;
  /** How long an object waits for storage or for another object's answer with each publication, on top of that. */
  readonly secondsPerPublication: number;
}

/** What so many deliveries to subscribers take. */
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

/** Connections on which nothing is said but what keeps them alive. */
export interface Idling {
  readonly connections: number;
  readonly seconds: number;
  /** Who asks for a sign of life: the client, whom the runtime answers while the object sleeps, or the object. */
  readonly keepAlive: "client" | "server";
  readonly pingIntervalSeconds: number;
  /** Connections that one object holds, and wakes for together. */
  readonly connectionsPerObject: number;
  /** The time that an object takes to ping one connection and to take note of its answer. */
  readonly secondsPerPing: number;
  /** Whether a client's ping is billed as a message although the runtime answers it; Cloudflare doesn't say. */
  readonly answeredPingsAreBilled: boolean;
}

/** What it takes to keep connections alive. */
export function idleUsage(idling: Idling): Usage {
  const pings = (idling.connections * idling.seconds) / idling.pingIntervalSeconds;
  if (idling.keepAlive === "client") {
    return { ...noUsage, incomingMessages: idling.answeredPingsAreBilled ? pings : 0 };
  }
  const ticks = pings / idling.connectionsPerObject;
  const awakeSeconds = Math.min(
    pings * idling.secondsPerPing,
    // An object can't be awake for longer than the time that passes.
    (idling.connections / idling.connectionsPerObject) * idling.seconds,
  );
  return { ...noUsage, incomingMessages: pings, awakeSeconds, alarmsSet: ticks, alarmsRung: ticks };
}

/** What has taken nothing. */
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
