import { hasPassed } from "../../moment.ts";
import { type ConnectionClaims, withoutMeta, withoutSubscriptions } from "../../access/claims.ts";
import type { Config } from "../../config/config.ts";
import { fitsAttachment } from "../../contract/attachment.ts";
import { failedAnswer, type HookAnswer, type HookRefused } from "./hooks.ts";
import { parseConnectResult } from "./response.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { JsonText } from "../../protocol/json/text.ts";

/** What a backend's answer about a connect comes to (rule Q2). */
export type ConnectAnswer =
  /** The credentials of the connection, and the `data` of its connect reply. */
  | { readonly outcome: "admitted"; readonly claims: ConnectionClaims; readonly data?: JsonText }
  /** The answer has no result. */
  | { readonly outcome: "no-credentials" }
  | HookRefused;

/** Reads a backend's answer about a connect. */
export function connectAnswer(
  answer: HookAnswer,
  { keepsMeta }: Config["hooks"],
  nowMs: number,
): ConnectAnswer {
  if (answer.outcome !== "result") return answer;
  if (answer.result === undefined) return { outcome: "no-credentials" };
  const read = parseConnectResult(answer.result);
  if (read.outcome === "invalid") return failedAnswer(`the result can't be used: ${read.reason}`);
  const claims = keepsMeta ? read.claims : withoutMeta(read.claims);
  if (hasPassed(claims.expireAtSeconds, nowMs))
    return { ...failedAnswer("the result's expire_at has passed"), error: errorCodes.expired };
  if (!fitsAttachment(withoutSubscriptions(claims))) return tooLarge;
  const { data } = read;
  return { outcome: "admitted", claims, ...(data === undefined ? {} : { data }) };
}

/** The answer to a backend whose result says more than a session can keep (rule B2). */
export const tooLarge: HookRefused = {
  outcome: "failed",
  error: errorCodes.limitExceeded,
  reason: "the result says more than a session can keep",
};
