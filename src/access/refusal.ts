import type { TokenOutcome } from "./claims.ts";

/**
 * Something that was refused, for the operator's log. The core says it, and the shell writes it. It never holds a token,
 * a key or a payload (rule A7), and every text in it from outside is bounded.
 */
export interface Refusal {
  /** The refused request: "upgrade", "poll", "api publish", or a client's command such as "subscribe". */
  readonly refused: string;
  /** The id of the rule in src/SPEC.md by which the request was refused. */
  readonly rule: string;
  /** The reason in words, with the setting that decides it. */
  readonly reason: string;
  /** The code with which the client or the backend was answered: of an error, a close or a status. */
  readonly code?: number;
  /** The name of the API key with which the backend calls (rule A14). */
  readonly key?: string;
  /** The user of the connection; "" for an anonymous one. */
  readonly user?: string;
  readonly channel?: string;
}

/** The reason why a client is refused that needs a connection token and brings none. */
export const noTokenReason =
  "there is no token, and client.allow_anonymous_connect_without_token is off";

/** The reason why a token doesn't admit a client. */
export function tokenReason(
  verdict: Exclude<TokenOutcome<object>, { readonly outcome: "verified" }>,
): string {
  switch (verdict.outcome) {
    case "invalid":
      return `the token is invalid: ${verdict.reason}`;
    case "expired":
      return verdict.reason ?? "the token has expired";
    case "unavailable":
      return "the token's key can't be fetched or used now";
  }
}

/** How long ago or ahead a time is, such as "2 h ago" or "in 30 s". */
export function relativeTime(timeSeconds: number, nowSeconds: number): string {
  const seconds = Math.round(Math.abs(nowSeconds - timeSeconds));
  const [unit, length] = units.find(([, one]) => seconds >= 2 * one) ?? ["s", 1];
  const text = `${Math.round(seconds / length)} ${unit}`;
  return timeSeconds <= nowSeconds ? `${text} ago` : `in ${text}`;
}

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;
