import {
  type DisconnectCode,
  disconnectCodes,
  type ErrorCode,
  errorCodes,
  lostCode,
} from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";

/** Whether the client is a unidirectional one on a WebSocket of its own, neither on a stream nor polling. */
export function isUnidirectionalSocket({
  unidirectional,
  identity: { secret, passing },
}: SocketSession): boolean {
  return unidirectional && secret === undefined && passing !== true;
}

interface SocketSession {
  readonly unidirectional: boolean;
  readonly identity: SessionIdentity;
  readonly codec: Codec;
}

/** The text by which an order names the session beside its ID; undefined if it can't (rule U2). */
export function secretOf(session: SocketSession): string | undefined {
  const { secret, client } = session.identity;
  // The ID of an anonymous client ends with its object, which is cut off from the session that an order names, too.
  return secret ?? (isUnidirectionalSocket(session) ? client.split("@", 1)[0] : undefined);
}

/** The push that comes before the close of such a WebSocket (rule T10); undefined for none. */
export function disconnectPush(session: SocketSession, code: DisconnectCode): Message | undefined {
  return isUnidirectionalSocket(session) ? pushBeforeClose(session.codec, code) : undefined;
}

/** The same, for a client that is known to be a unidirectional one on a WebSocket. */
export function pushBeforeClose(codec: Codec, code: DisconnectCode): Message | undefined {
  return code.code === lostCode ? undefined : codec.encodePush({ type: "disconnect", code });
}

/** The disconnect code that stands for an error, which a unidirectional client can't be sent (docs/protocol.md 4.5). */
export function unidirectionalDisconnect(error: ErrorCode): DisconnectCode {
  // By number: an error that came from a channel's object is a copy.
  switch (error.code) {
    case errorCodes.tokenExpired.code:
    case errorCodes.expired.code:
      return disconnectCodes.connectionExpired;
    case errorCodes.tooManyRequests.code:
      return disconnectCodes.tooManyRequests;
    case errorCodes.permissionDenied.code:
      return disconnectCodes.permissionDenied;
    default:
      return disconnectCodes.internalServerError;
  }
}
