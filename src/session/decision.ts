import type { Refusal } from "../access/refusal.ts";
import { type DisconnectCode, type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { Reply } from "../protocol/reply.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { SessionIdentity, SubscriptionSnapshot } from "../contract/session-snapshot.ts";

/**
 * The outcome of a command. The code that carries a command out only decides; `CommandExecutor` applies the decision,
 * so that replies leave in order.
 */
export type Decision =
  | {
      readonly outcome: "reply";
      readonly reply: Reply;
      readonly changes?: Changes;
      /** Called if the client is sent an error in the reply's place, because the reply is too large (rule F4). */
      readonly refused?: () => void;
    }
  | {
      readonly outcome: "error";
      readonly error: ErrorCode;
      readonly changes?: Changes;
      /** The reason for the log, where it can't be found by looking at the command again. */
      readonly why?: Why;
    }
  | { readonly outcome: "disconnect"; readonly code: DisconnectCode; readonly why?: Why }
  /** Nothing is sent. */
  | { readonly outcome: "silent"; readonly changes?: Changes };

/** A subscription as the namespace, its token and its request together allow it. */
export interface Grant {
  readonly outcome: "granted";
  readonly subscription: SubscriptionSnapshot;
  readonly positioned: boolean;
  readonly recoverable: boolean;
  /** From the token, for the subscribe reply. */
  readonly data?: JsonText;
}

/** The rule by which a command is refused, and the reason in words. */
export type Why = Pick<Refusal, "rule" | "reason">;

/** Takes the outcome of a command, at once or when the channel's object has replied. */
export type DecisionDone = (decision: Decision) => void;

/** Changes to the session's identity. Its subscriptions change by themselves. */
export type Changes = Partial<SessionIdentity>;

/** The decision on a command whose reply has been sent already. */
export const silent: Decision = { outcome: "silent" };

/** Closes the connection with this code. */
export function disconnectWith(code: DisconnectCode): Decision {
  return { outcome: "disconnect", code };
}

/** Answers the command with this error. */
export function failWith(error: ErrorCode, changes?: Changes): Decision {
  return changes === undefined ? { outcome: "error", error } : { outcome: "error", error, changes };
}

/** Answers the command with this error, and says in the log by which rule and why. */
export function refuseWith(error: ErrorCode, rule: string, reason: string): Decision {
  return { outcome: "error", error, why: { rule, reason } };
}

/** The decision on a subscribe that an `unsubscribe` has ended while it was under way. */
export const cancelled = refuseWith(
  errorCodes.permissionDenied,
  "U2",
  "the server ended the subscription before it began",
);
