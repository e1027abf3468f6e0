/**
 * The codes of errors, disconnects and unsubscribes, with their messages (docs/protocol.md 1.7 to 1.9). Clients act on
 * the numbers alone: after a close code from 3500 to 3999 or from 4500 to 4999 a client doesn't connect again, after
 * any other it does. A fault of the server must therefore never have a code of those ranges.
 */

/** The error of a command that failed. After a temporary one the client may try again. */
export interface ErrorCode {
  readonly code: number;
  readonly message: string;
  readonly temporary: boolean;
}

/** The code and the reason of a WebSocket close frame, or of a disconnect push. */
export interface DisconnectCode {
  readonly code: number;
  readonly reason: string;
}

/** The code and the reason of an unsubscribe push. From 2500 on the client subscribes again by itself. */
export interface UnsubscribeCode {
  readonly code: number;
  readonly reason: string;
}

/** The errors that Dormouse answers with (docs/protocol.md 1.7). */
export const errorCodes = {
  internal: { code: 100, message: "internal server error", temporary: true },
  unknownChannel: { code: 102, message: "unknown channel", temporary: false },
  permissionDenied: { code: 103, message: "permission denied", temporary: false },
  methodNotFound: { code: 104, message: "method not found", temporary: false },
  alreadySubscribed: { code: 105, message: "already subscribed", temporary: false },
  limitExceeded: { code: 106, message: "limit exceeded", temporary: false },
  badRequest: { code: 107, message: "bad request", temporary: false },
  notAvailable: { code: 108, message: "not available", temporary: false },
  tokenExpired: { code: 109, message: "token expired", temporary: false },
  expired: { code: 110, message: "expired", temporary: false },
  tooManyRequests: { code: 111, message: "too many requests", temporary: true },
  unrecoverablePosition: { code: 112, message: "unrecoverable position", temporary: false },
  concurrentPagination: { code: 113, message: "concurrent pagination", temporary: true },
} as const satisfies Record<string, ErrorCode>;

/** The codes with which Dormouse closes connections (docs/protocol.md 1.8). */
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
  forceDisconnect: { code: 3503, reason: "force disconnect" },
  connectionLimit: { code: 3504, reason: "connection limit" },
  channelLimit: { code: 3505, reason: "channel limit" },
  permissionDenied: { code: 3507, reason: "permission denied" },
  notAvailable: { code: 3508, reason: "not available" },
} as const satisfies Record<string, DisconnectCode>;

/** How a connection ended that broke. */
export const connectionLost: DisconnectCode = { code: 1006, reason: "connection lost" };

/** The disconnect code of backends for a connection that ends as if it were lost (docs/protocol.md 1.8). */
export const lostCode = 3000;

/** The codes with which Dormouse ends subscriptions (docs/protocol.md 1.9). */
export const unsubscribeCodes = {
  server: { code: 2000, reason: "server unsubscribe" },
  insufficientState: { code: 2500, reason: "insufficient state" },
  subscriptionExpired: { code: 2501, reason: "subscription expired" },
} as const satisfies Record<string, UnsubscribeCode>;
