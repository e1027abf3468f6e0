import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { ConnectionClaims } from "../../src/access/claims.ts";
import type { Served } from "./middleware.ts";

/** What the token at an upgrade came to. `problem` is what the client is told; it quotes nothing. */
export type UpgradeToken =
  | { readonly outcome: "verified"; readonly claims: ConnectionClaims }
  | { readonly outcome: "absent" }
  /** Whether it is good can't be told now. */
  | { readonly outcome: "unavailable" }
  | { readonly outcome: "refused"; readonly problem: string };

/** Finds and verifies the token of an upgrade, so that a stranger costs no object anything. */
export async function checkUpgradeToken(context: Context<Served>): Promise<UpgradeToken> {
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
function offeredToken(context: Context<Served>, cookie: string): string {
  const header = /^bearer +(.+)$/i.exec(context.req.header("Authorization") ?? "")?.[1] ?? "";
  if (header !== "") return header;
  const fromCookie = cookie === "" ? "" : (getCookie(context, cookie) ?? "");
  return fromCookie === "" ? (context.req.query("token") ?? "") : fromCookie;
}
