import type { ConnectionClaims } from "../../src/access/claims.ts";
import { parseConnectResult } from "../../src/features/hooks/response.ts";
import type { ConnectHookResult } from "./hook-functions.ts";

/**
 * Who connects: the user's ID, or what a token or the connect hook could say. Nothing, or "": this Worker doesn't know; a
 * token or the connect hook may say it, and without them the client is refused or anonymous, as the configuration says.
 */
export type Visitor = string | ConnectHookResult | null | undefined;

/**
 * The claims of a connection, as if a token had named them.
 *
 * @throws if the description can't be right, with the field that is wrong
 */
export function claimsOf(visitor: Visitor): ConnectionClaims | undefined {
  if (visitor === undefined || visitor === null || visitor === "") return undefined;
  const described = typeof visitor === "string" ? { user: visitor } : visitor;
  const read = parseConnectResult(JSON.stringify(described));
  if (read.outcome === "invalid")
    throw new Error(`user of dormouse() gave a description that can't be used: ${read.reason}`);
  return read.claims;
}
