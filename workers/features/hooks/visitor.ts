import type { ConnectionClaims } from "../../../src/access/claims.ts";
import {
  type ConnectResultRead,
  parseConnectResult,
} from "../../../src/features/hooks/response.ts";
import { parseGiven } from "./given-json.ts";
import { parseJsonObject } from "../../../src/protocol/json/text.ts";

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
  const given = parseGiven(described);
  const read = given.outcome === "text" ? readDescription(given.text) : given;
  if (read.outcome === "invalid")
    throw new Error(`user of dormouse() gave a description that can't be used: ${read.reason}`);
  return read.claims;
}

/** The same of what a Worker's `user` gives. If it can't be used, the log says why, and the connection is refused. */
export async function askForClaims(
  user: () => Promise<Parameters<typeof claimsOf>[0]>,
): Promise<ConnectionClaims | undefined> {
  try {
    return claimsOf(await user());
  } catch (error) {
    console.error("who connects isn't known:", error);
    throw error;
  }
}

/** Reads a description that JavaScript may have made of anything: only one that names a user is one (rule OW11). */
function readDescription(text: string): ConnectResultRead {
  const object = parseJsonObject(text);
  if (object === undefined)
    return { outcome: "invalid", reason: "it is neither a text nor an object with a user" };
  if (typeof object.fields["user"] !== "string")
    return { outcome: "invalid", reason: '"user" is not a string' };
  return parseConnectResult(object.text);
}
