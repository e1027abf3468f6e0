/**
 * Estimates a month's bill on Cloudflare from what was counted for a publication, a connection and an idle connection
 * (docs/performance.md, docs/users.md).
 */
import { limits } from "../../src/limits.ts";
import { deliveryUsage, idleUsage, noUsage, type Usage } from "./bill.ts";
import { planIncludes, prices, secondsPerMonth } from "./prices.ts";

/** What an application does. */
export interface Workload {
  readonly users: number;
  /** Connections that are open at the same time, on average. */
  readonly online: number;
  readonly messagesPerDay: number;
  /** Subscribers that get a message, on average. */
  readonly subscribers: number;
  readonly connectsPerUserAndDay: number;
  /** Messages in one request of the backend. */
  readonly messagesPerRequest: number;
  /** Where sockets are: on gateways, each with many channels, or on the object of one channel. */
  readonly sockets: "gateway" | "channel";
  /** The channels to which sockets of channels are divided, and whose history is stored. */
  readonly channels: number;
  /** Who pings: clients, or the server, whose pings JSON clients, binary clients or none answer. */
  readonly keepAlive: "client" | "json" | "binary" | "unanswered";
  /** The publications that a channel keeps; 0 for no history. */
  readonly historySize: number;
  readonly payloadBytes: number;
  /** Whether users have homes (client.users.enabled). */
  readonly hasHomes: boolean;
}

/** A line of the bill. */
interface BillLine {
  readonly item: string;
  /** What the workload takes in a month. */
  readonly quantity: number;
  readonly unit: string;
  /** What Workers Paid includes. */
  readonly included: number;
  readonly dollars: number;
}

export interface Estimate {
  readonly lines: readonly BillLine[];
  /** With the $5 of Workers Paid. */
  readonly dollars: number;
  /** What there would be more if Cloudflare billed messages that it answers itself, which it doesn't say. */
  readonly dollarsIfAnsweredMessagesAreBilled: number;
}

/** Estimates the bill of a month. */
export function estimate(workload: Workload): Estimate {
  const usage = added(publishing(workload), connecting(workload), idling(workload, false));
  const { workerRequests, rowsRead } = usage;
  const requests = requestsOf(usage);
  const gigabyteSeconds = usage.awakeSeconds * prices.objectGigabytes;
  const rowsWritten = usage.rowsWritten + usage.alarmsSet;
  const cpuMs = workerRequests * cpuMsPerRequest;
  const { historySize, channels, payloadBytes } = workload;
  const stored = (historySize * channels * (payloadBytes + rowBytes)) / 1e9;
  const lines = [
    line("Worker requests", workerRequests, "", planIncludes.workerRequests, prices.workerRequest),
    line("Worker processor time", cpuMs, "ms", 30e6, 0.02 / 1e6),
    line("requests to objects", requests, "", planIncludes.objectRequests, prices.objectRequest),
    line(
      "time of objects awake",
      gigabyteSeconds,
      "GB-s",
      planIncludes.gigabyteSeconds,
      prices.gigabyteSecond,
    ),
    line("rows written", rowsWritten, "", planIncludes.rowsWritten, prices.rowWritten),
    line("rows read", rowsRead, "", 25e9, prices.rowRead),
    line("stored history", stored, "GB", 5, 0.2),
  ];
  const billed = added(publishing(workload), connecting(workload), idling(workload, true));
  const more = lineOf(requestsOf(billed), planIncludes.objectRequests, prices.objectRequest);
  return {
    lines,
    dollars: lines.reduce((sum, { dollars }) => sum + dollars, baseDollars),
    dollarsIfAnsweredMessagesAreBilled:
      more - lineOf(requests, planIncludes.objectRequests, prices.objectRequest),
  };
}

function publishing(workload: Workload): Usage {
  const { messagesPerDay, subscribers, messagesPerRequest, sockets, historySize } = workload;
  const publications = messagesPerDay * daysPerMonth;
  // At most each gateway is called: one of them holds several of the subscribers.
  const calls = sockets === "gateway" ? Math.min(gatewaysOf(workload), subscribers) : 0;
  const alarms = historySize > 0 && calls > 0 ? alarmsPerPublication(workload) : 0;
  const waits = (historySize > 0 ? 1 : 0) + calls + alarms;
  const usage = deliveryUsage(
    {
      counts: {
        objectRequests: 1,
        callsBetweenObjects: calls,
        rowsWritten: historySize > 0 ? 1 : 0,
        rowsRead: historySize > 0 ? 1 : 0,
        // Once it has rung, it is set for the end of the history.
        alarmsSet: 2 * alarms,
        alarmsRung: alarms,
      },
      publicationsPerRequest: messagesPerRequest,
      deliveriesPerPublication: 1,
      secondsPerDelivery: secondsPerDelivery * subscribers,
      secondsPerPublication: waits * secondsPerWait,
    },
    publications,
  );
  return usage;
}

/**
 * How often the alarm that covers a crash (rule L4) rings for a publication. A publication sets it unless it is set; so in a
 * channel that rests for longer it rings for each, and in a busy one for many together.
 */
function alarmsPerPublication({ messagesPerDay, channels }: Workload): number {
  const perSecond = messagesPerDay / channels / secondsPerDay;
  return 1 / (1 + (perSecond * limits.crashAlarmMs) / 1_000);
}

/**
 * Each connect is a request to the Worker and one to an object. The home of its user is called, and writes a row once.
 */
function connecting({ users, connectsPerUserAndDay, hasHomes }: Workload): Usage {
  const connects = users * connectsPerUserAndDay * daysPerMonth;
  const calls = hasHomes ? connects : 0;
  return {
    ...noUsage,
    workerRequests: connects,
    objectRequests: connects,
    callsBetweenObjects: calls,
    awakeSeconds: (connects + calls) * secondsPerWait,
    rowsWritten: hasHomes && connects > 0 ? users : 0,
  };
}

function idling(workload: Workload, answeredMessagesAreBilled: boolean): Usage {
  const { online, sockets, channels, keepAlive } = workload;
  const objects = sockets === "gateway" ? gatewaysOf(workload) : Math.min(channels, online);
  if (online === 0) return noUsage;
  return idleUsage({
    connections: online,
    seconds: secondsPerMonth,
    keepAlive: keepAlive === "client" ? "client" : "server",
    takenBy: takers[keepAlive],
    answeredMessagesAreBilled,
    pingIntervalSeconds: 25,
    connectionsPerObject: online / objects,
    secondsPerPing: secondsPerDelivery,
  });
}

const takers = {
  client: "platform",
  json: "platform",
  binary: "object",
  unanswered: "nobody",
} as const;

function gatewaysOf({ online }: Workload): number {
  return Math.max(1, Math.ceil(online / connectionsPerGateway));
}

function requestsOf(usage: Usage): number {
  const { objectRequests, callsBetweenObjects, alarmsRung, incomingMessages } = usage;
  const messages = incomingMessages / prices.incomingMessagesPerRequest;
  return objectRequests + callsBetweenObjects + alarmsRung + messages;
}

function added(...all: readonly Usage[]): Usage {
  const sum = (key: keyof Usage): number => all.reduce((total, one) => total + one[key], 0);
  return {
    workerRequests: sum("workerRequests"),
    objectRequests: sum("objectRequests"),
    callsBetweenObjects: sum("callsBetweenObjects"),
    incomingMessages: sum("incomingMessages"),
    awakeSeconds: sum("awakeSeconds"),
    rowsWritten: sum("rowsWritten"),
    rowsRead: sum("rowsRead"),
    alarmsSet: sum("alarmsSet"),
    alarmsRung: sum("alarmsRung"),
  };
}

function line(
  item: string,
  quantity: number,
  unit: string,
  included: number,
  price: number,
): BillLine {
  return { item, quantity, unit, included, dollars: lineOf(quantity, included, price) };
}

function lineOf(quantity: number, included: number, price: number): number {
  return Math.max(0, quantity - included) * price;
}

const baseDollars = 5;
const daysPerMonth = 30;
const secondsPerDay = 86_400;
/** Measured: docs/performance/cost.md. */
const secondsPerDelivery = 4.25e-6;
/** Assumed for a commit, and for a call to another object: Cloudflare publishes no figure. */
const secondsPerWait = 0.01;
/** Measured: the edge's part of a publication in docs/performance.md. */
const cpuMsPerRequest = 0.39;
/** The default of client.connection_limit. */
const connectionsPerGateway = 5_000;
/** What a kept publication takes beside its payload, about. */
const rowBytes = 60;
