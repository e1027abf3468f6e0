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

/** What is different of the session from now on; its subscriptions change by other ways. */
export type Changes = Partial<SessionIdentity>;

export function disconnectWith(code: DisconnectCode): Decision {
  return { outcome: "disconnect", code };
}

export function failWith(error: ErrorCode, changes?: Changes): Decision {
  return changes === undefined ? { outcome: "error", error } : { outcome: "error", error, changes };
}
