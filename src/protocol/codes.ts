/**
 * Every number the protocol puts on the wire, once, with the words that go with it.
 * Clients act on the numbers alone: a close code in 3500…3999 or 4500…4999 strands a client for good, every
 * other one makes it come back. So never choose one of those for a fault of our own (docs/protocol.md 1.7 to 1.9).
 */

/** What a command is answered with when it fails. `temporary` invites the client to try again. */
export interface ErrorCode {
  readonly code: number;
  readonly message: string;
  readonly temporary: boolean;
}

/** What a connection is closed with: a WebSocket close code and its reason. */
export interface DisconnectCode {
  readonly code: number;
  readonly reason: string;
}

/** What a subscription is ended with. From 2500 on the client subscribes again by itself. */
export interface UnsubscribeCode {
  readonly code: number;
  readonly reason: string;
}

export const errorCodes = {
  internal: { code: 100, message: "internal server error", temporary: true },
  unknownChannel: { code: 102, message: "unknown channel", temporary: false },
  permissionDenied: { code: 103, message: "permission denied", temporary: false },
  alreadySubscribed: { code: 105, message: "already subscribed", temporary: false },
  limitExceeded: { code: 106, message: "limit exceeded", temporary: false },
  badRequest: { code: 107, message: "bad request", temporary: false },
  notAvailable: { code: 108, message: "not available", temporary: false },
  tokenExpired: { code: 109, message: "token expired", temporary: false },
  expired: { code: 110, message: "expired", temporary: false },
  tooManyRequests: { code: 111, message: "too many requests", temporary: true },
  unrecoverablePosition: { code: 112, message: "unrecoverable position", temporary: false },
} as const satisfies Record<string, ErrorCode>;

export const disconnectCodes = {
  messageSizeLimit: { code: 1009, reason: "message size limit exceeded" },
  internalServerError: { code: 3004, reason: "internal server error" },
  connectionExpired: { code: 3005, reason: "connection expired" },
  subscriptionExpired: { code: 3006, reason: "subscription expired" },
  slow: { code: 3008, reason: "slow" },
  insufficientState: { code: 3010, reason: "insufficient state" },
  noPong: { code: 3012, reason: "no pong" },
  tooManyRequests: { code: 3013, reason: "too many requests" },
  invalidToken: { code: 3500, reason: "invalid token" },
  badRequest: { code: 3501, reason: "bad request" },
  stale: { code: 3502, reason: "stale" },
  connectionLimit: { code: 3504, reason: "connection limit" },
  channelLimit: { code: 3505, reason: "channel limit" },
  permissionDenied: { code: 3507, reason: "permission denied" },
  notAvailable: { code: 3508, reason: "not available" },
} as const satisfies Record<string, DisconnectCode>;

export const unsubscribeCodes = {
  insufficientState: { code: 2500, reason: "insufficient state" },
  subscriptionExpired: { code: 2501, reason: "subscription expired" },
} as const satisfies Record<string, UnsubscribeCode>;
