/**
 * Cloudflare's public prices of Workers Paid, in US dollars, beyond what $5 a month include.
 * Read on 2026-11-20 from https://developers.cloudflare.com/durable-objects/platform/pricing/ and
 * https://developers.cloudflare.com/workers/platform/pricing/
 */
export const prices = {
  /** A request to a Worker; an upgrade to a WebSocket is one. */
  workerRequest: 0.3 / 1_000_000,
  /** A request to an object: an upgrade, a call, an alarm, or {@link incomingMessagesPerRequest} messages. */
  objectRequest: 0.15 / 1_000_000,
  /** Messages from clients to an object, for the price of a request. Messages to clients are free. */
  incomingMessagesPerRequest: 20,
  /** An object in memory that can't hibernate: wall-clock time by {@link objectGigabytes}. */
  gigabyteSecond: 12.5 / 1_000_000,
  /** The billed memory of each object, whatever it holds. */
  objectGigabytes: 0.125,
  /** Setting an alarm counts as one. */
  rowWritten: 1 / 1_000_000,
  rowRead: 0.001 / 1_000_000,
} as const;

/** What $5 a month include. */
export const planIncludes = {
  workerRequests: 10e6,
  objectRequests: 1e6,
  gigabyteSeconds: 400_000,
  rowsWritten: 50e6,
} as const;

/** Thirty days. */
export const secondsPerMonth = 2_592_000;
