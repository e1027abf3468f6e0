import type { Context } from "hono";
import type { ConnectionClaims } from "../../src/access/claims.ts";
import { originAllowed } from "../../src/access/origin.ts";
import type { AppEnv } from "./middleware.ts";
import { busyRetrySeconds, respondBusy, respondText } from "./respond.ts";
import { getCookie } from "hono/cookie";

/** Whether a client may have a connection. */
type Admission =
  /** As whom, if it brought a token with the request itself. */
  | { readonly outcome: "admitted"; readonly claims?: ConnectionClaims }
  | { readonly outcome: "refused"; readonly response: Response };

/** Refuses a foreign origin and a bad token, before any object is touched (rules A3 and A6). */
export async function admit(context: Context<AppEnv>): Promise<Admission> {
  const { client } = context.var.configured.config;
  if (!originAllowed(context.req.raw.headers.get("Origin"), client.allowedOrigins)) {
    return refused(respondText(403, "Forbidden"));
  }
  const token = await checkUpgradeToken(context);
  switch (token.outcome) {
    case "refused":
      return refused(respondText(401, token.problem));
    case "unavailable":
      return refused(respondBusy(busyRetrySeconds()));
    case "absent":
      return { outcome: "admitted" };
    case "verified":
      return { outcome: "admitted", claims: token.claims };
  }
}

function refused(response: Response): Admission {
  return { outcome: "refused", response };
}

/** What the token at an upgrade came to. `problem` is what the client is told; it quotes nothing. */
type UpgradeToken =
  | { readonly outcome: "verified"; readonly claims: ConnectionClaims }
  | { readonly outcome: "absent" }
  /** Whether it is good can't be told now. */
  | { readonly outcome: "unavailable" }
  | { readonly outcome: "refused"; readonly problem: string };

/** Finds and verifies the token of an upgrade, so that a stranger costs no object anything. */
async function checkUpgradeToken(context: Context<AppEnv>): Promise<UpgradeToken> {
  const { config, verifier } = context.var.configured;
  const token = offeredToken(context, config.client.tokenCookie);
  if (token === "") {
    return config.client.requireEdgeToken
      ? { outcome: "refused", problem: "token required" }
      : { outcome: "absent" };
  }
  const verdict = await verifier.connection(token, Date.now());
  switch (verdict.outcome) {
    case "verified":
    case "unavailable":
      return verdict;
    case "expired":
      return { outcome: "refused", problem: "token expired" };
    case "invalid":
      return { outcome: "refused", problem: "invalid token" };
  }
}

/** The first place that has one counts: header, cookie, query. "" for none. */
function offeredToken(context: Context<AppEnv>, cookie: string): string {
  const header = /^bearer +(.+)$/i.exec(context.req.header("Authorization") ?? "")?.[1] ?? "";
  if (header !== "") return header;
  const fromCookie = cookie === "" ? "" : (getCookie(context, cookie) ?? "");
  return fromCookie === "" ? (context.req.query("token") ?? "") : fromCookie;
}
