import type { DisconnectCode, ErrorCode } from "../protocol/codes.ts";
import type { Reply } from "../protocol/reply.ts";
import type { SessionSnapshot } from "./snapshot.ts";

/** What a command comes to. The session carries it out; nobody else speaks to the socket. */
export type Decision =
  | { readonly outcome: "reply"; readonly reply: Reply; readonly snapshot?: SessionSnapshot }
  /** Like reply, and then the others hear that somebody came. */
  | { readonly outcome: "joined"; readonly reply: Reply; readonly snapshot: SessionSnapshot }
  | { readonly outcome: "left"; readonly reply: Reply; readonly snapshot: SessionSnapshot }
  | { readonly outcome: "error"; readonly error: ErrorCode; readonly snapshot?: SessionSnapshot }
  | { readonly outcome: "disconnect"; readonly code: DisconnectCode }
  /** Nothing is sent. */
  | { readonly outcome: "silent"; readonly snapshot?: SessionSnapshot };

/** Shorthands: decisions are made in many places. */
export function failWith(error: ErrorCode, snapshot?: SessionSnapshot): Decision {
  return snapshot === undefined
    ? { outcome: "error", error }
    : { outcome: "error", error, snapshot };
}

export function disconnectWith(code: DisconnectCode): Decision {
  return { outcome: "disconnect", code };
}
