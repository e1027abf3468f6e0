import type { DisconnectCode, ErrorCode } from "../protocol/codes.ts";
import type { Reply } from "../protocol/reply.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";

/** What a command comes to. The session carries it out; nobody else speaks to the socket. */
export type Decision =
  | { readonly outcome: "reply"; readonly reply: Reply; readonly changes?: Changes }
  | { readonly outcome: "error"; readonly error: ErrorCode; readonly changes?: Changes }
  | { readonly outcome: "disconnect"; readonly code: DisconnectCode }
  /** Nothing is sent. */
  | { readonly outcome: "silent"; readonly changes?: Changes };

/** Takes what a command came to, at once or when the channel's object has answered. */
export type DecisionDone = (decision: Decision) => void;

/** What is different of the session from now on; its subscriptions change by other ways. */
export type Changes = Partial<SessionIdentity>;

/** Of a command whose reply was sent already, or that has none. */
export const silent: Decision = { outcome: "silent" };

export function disconnectWith(code: DisconnectCode): Decision {
  return { outcome: "disconnect", code };
}

export function failWith(error: ErrorCode, changes?: Changes): Decision {
  return changes === undefined ? { outcome: "error", error } : { outcome: "error", error, changes };
}
