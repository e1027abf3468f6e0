import type { ConnectionClaims } from "../../../src/access/claims.ts";
import {
  type ConnectResultRead,
  parseConnectResult,
} from "../../../src/features/hooks/response.ts";
import { parseJsonText } from "../../../src/protocol/json/text.ts";

/**
 * The claims of a connection, as if a token had named them.
 *
 * @param visitor the user's ID, or what a result of the connect hook could say; nothing, or "", if the Worker doesn't know
 *
 * @throws if the description can't be right, with the field that is wrong
 */
export function claimsOf(
  visitor: string | { readonly user: string } | null | undefined,
): ConnectionClaims | undefined {
  if (visitor === undefined || visitor === null || visitor === "") return undefined;
  const described = typeof visitor === "string" ? { user: visitor } : visitor;
  const text = parseJsonText(JSON.stringify(described));
  const read: ConnectResultRead =
    text === undefined ? { outcome: "invalid", reason: "it isn't JSON" } : parseConnectResult(text);
  if (read.outcome === "invalid")
    throw new Error(`user of dormouse() gave a description that can't be used: ${read.reason}`);
  return read.claims;
}
