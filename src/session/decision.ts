import type { TokenOutcome } from "../access/claims.ts";
import { tokenReason } from "../access/refusal.ts";
import {
  type DisconnectCode,
  disconnectCodes,
  type ErrorCode,
  errorCodes,
} from "../protocol/codes.ts";
import type { Reply, SubscribeResult } from "../protocol/reply.ts";
import type { NotAllowed } from "./may.ts";
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
      /** A channel whose publications so far the client is sent before the reply (rule O4). Absent: that of a publish. */
      readonly after?: string;
      /** Called if the client is sent an error in the reply's place, because the reply is too large (rule F4). */
      readonly refused?: () => void;
    }
  | {
      readonly outcome: "error";
      readonly error: ErrorCode;
      readonly changes?: Changes;
      /** The reason for the log; absent for {@link whyFailed}. */
      readonly why?: Why;
    }
  | { readonly outcome: "disconnect"; readonly code: DisconnectCode; readonly why: Why }
  /** Nothing is sent. */
  | { readonly outcome: "silent"; readonly changes?: Changes };

/** The decision on a command that is refused. */
export type RefusedCommand = Extract<Decision, { readonly outcome: "error" | "disconnect" }>;

/** A subscription as the namespace, its token and its request together allow it. */
export interface Grant {
  readonly outcome: "granted";
  readonly subscription: SubscriptionSnapshot;
  readonly positioned: boolean;
  readonly recoverable: boolean;
  /** From the token, for the subscribe reply. */
  readonly data?: JsonText;
  /** What the subscribe reply says of a subscription that isn't to a stream. */
  readonly replyFields?: Partial<SubscribeResult>;
}

/** What verifying a token comes to that doesn't do. */
type UnfitToken = Exclude<TokenOutcome<object>, { readonly outcome: "verified" }>;

/** The rule by which a command is refused, and the reason in words, as the operator's log has them (rule A13). */
export interface Why {
  readonly rule: string;
  readonly reason: string;
  /** The reason is about options of the channel's namespace, which the log names before it. */
  readonly ofNamespace?: true;
}

/** Takes the outcome of a command, at once or when the channel's object has replied. */
export type DecisionDone = (decision: Decision) => void;

/** Changes to the session's identity. Its subscriptions change by themselves. */
export type Changes = Partial<SessionIdentity>;

/** The decision on a command whose reply has been sent already. */
export const silent: Decision = { outcome: "silent" };

/** Closes the connection with this code, by this rule and for this reason. */
export function disconnectWith(code: DisconnectCode, rule: string, reason: string): RefusedCommand {
  return { outcome: "disconnect", code, why: { rule, reason } };
}

/** The reason of rule C3 against a token whose `expire_at` has passed. */
export const expireAtPassed = "the token's expire_at has passed";

/** The reason of rule C3 against the token of another user. */
export const ofAnother = "the token is of another user than the connection's earlier token";

/** The decision on a command that comes before connect, and on a second connect. */
export const outOfTurn = disconnectWith(
  disconnectCodes.badRequest,
  "C1",
  "the command isn't allowed now: connect comes first, and once",
);

/** Answers the command with this error, by this rule and for this reason. */
export function refuseWith(error: ErrorCode, rule: string, reason: string): RefusedCommand {
  return { outcome: "error", error, why: { rule, reason } };
}

/** The same, for a reason about options of the channel's namespace. */
export function refuseByOptions(error: ErrorCode, rule: string, reason: string): RefusedCommand {
  return { outcome: "error", error, why: { rule, reason, ofNamespace: true } };
}

/** Refuses a command that isn't allowed. */
export function refuse({ error, rule, because, ofNamespace }: NotAllowed): RefusedCommand {
  return {
    outcome: "error",
    error,
    why: { rule, reason: because, ...(ofNamespace && { ofNamespace }) },
  };
}

/** Answers the command with an error that says enough by itself, or that comes from the channel's object. */
export function failWith(error: ErrorCode): RefusedCommand {
  return { outcome: "error", error };
}

/** Why a command is answered with an error of {@link failWith}. */
export function whyFailed({ code }: ErrorCode): Why {
  switch (code) {
    case errorCodes.tooManyRequests.code:
      return { rule: "B7", reason: "the connection or its channel is over a limit for now" };
    case errorCodes.limitExceeded.code:
      return { rule: "F4", reason: "the reply is larger than client.queue_max_size" };
    case errorCodes.unrecoverablePosition.code:
      return { rule: "R5", reason: "the client's position can't be recovered" };
    case errorCodes.badRequest.code:
      return { rule: "W1", reason: notAllowed, ofNamespace: true };
    default:
      return { rule: "W1", reason: "the command failed" };
  }
}

const notAllowed = "the request has a value that isn't allowed";

/** The decision on a request with a value that isn't allowed. */
export const badRequest = refuseByOptions(errorCodes.badRequest, "W1", notAllowed);

/** The decision on a token that says too much. */
export const tooLarge = refuseWith(
  errorCodes.limitExceeded,
  "B2",
  "the token says more than a session can keep",
);

/**
 * The decision on a command whose token doesn't do.
 *
 * @param codes of an invalid token and of one that has expired: an error, or of a close
 */
export function refuseToken(
  verdict: UnfitToken,
  { invalid, expired }: Record<"invalid" | "expired", ErrorCode | DisconnectCode>,
): RefusedCommand {
  const code = { invalid, expired, unavailable: errorCodes.internal }[verdict.outcome];
  const why = whyToken(verdict);
  return "message" in code
    ? { outcome: "error", error: code, why }
    : { outcome: "disconnect", code, why };
}

/** Why a token doesn't do. */
function whyToken(verdict: UnfitToken): Why {
  const reason = tokenReason(verdict);
  switch (verdict.outcome) {
    case "invalid":
      return { rule: verdict.rule ?? "A2", reason };
    case "expired":
      return { rule: "C3", reason };
    case "unavailable":
      return { rule: "A9", reason };
  }
}

/** The decision on a subscribe that an `unsubscribe` has ended while it was under way. */
export const cancelled = refuseWith(
  errorCodes.permissionDenied,
  "U2",
  "the server ended the subscription before it began",
);
