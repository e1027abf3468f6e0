/** The claims of a token that a command line asks for, and the claims of a given token in words. */
import {
  parseConnectionClaims,
  parseSubscriptionClaims,
  type ClaimRules,
} from "../../src/access/parse-claims.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";

/** The claims that a command line asks for, before they are checked. */
export interface TokenRequest {
  readonly user: string;
  /** The claim that names the user. */
  readonly userIdClaim: string;
  readonly nowSeconds: number;
  /** How long the token is valid, in seconds; 0 for ever. */
  readonly ttlSeconds: number;
  /** The channel of a subscription token; absent for a connection token. */
  readonly channel?: string;
  /** Claims that are taken as they are; an absent one is left out. */
  readonly others: Readonly<Record<string, JsonValue | undefined>>;
}

/** The claims, or why the server would refuse them. */
export type RequestedClaims =
  | { readonly outcome: "claims"; readonly claims: JsonObject }
  | { readonly outcome: "refused"; readonly reason: string };

/** Makes the claims of a token, and checks them as the server will (docs/protocol.md 5.1 and 5.2). */
export function requestedClaims(request: TokenRequest, rules: ClaimRules): RequestedClaims {
  const { user, userIdClaim, nowSeconds, ttlSeconds, channel, others } = request;
  const claims: Record<string, JsonValue> = {
    ...(user !== "" && { [userIdClaim]: user }),
    ...(channel !== undefined && { channel }),
    iat: nowSeconds,
    ...(ttlSeconds > 0 && { exp: nowSeconds + ttlSeconds }),
  };
  for (const [name, value] of Object.entries(others)) if (value !== undefined) claims[name] = value;
  const text = JSON.stringify(claims);
  const verdict =
    channel === undefined
      ? parseConnectionClaims(text, rules, nowSeconds * 1_000)
      : parseSubscriptionClaims(text, rules, nowSeconds * 1_000);
  switch (verdict.outcome) {
    case "verified": {
      const { expireAtSeconds } = verdict.claims;
      return expireAtSeconds > 0 && expireAtSeconds <= nowSeconds
        ? { outcome: "refused", reason: "expire_at is in the past" }
        : { outcome: "claims", claims };
    }
    case "unavailable":
      return { outcome: "refused", reason: "the token can't be verified" };
    case "expired":
      return { outcome: "refused", reason: verdict.reason ?? "the token isn't valid now" };
    case "invalid":
      return { outcome: "refused", reason: verdict.reason };
  }
}

/** A token taken apart, without verifying it; undefined for a text that isn't a JWT. */
export function readToken(
  token: string,
): { readonly header: JsonObject; readonly claims: JsonObject } | undefined {
  const [header, claims] = token.split(".").slice(0, 2).map(parsePart);
  return header === undefined || claims === undefined ? undefined : { header, claims };
}

function parsePart(part: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // A text that isn't a JWT.
  }
}

/** A claim of a token, its value, and what the server makes of it. */
export type ExplainedClaim = readonly [name: string, value: string, meaning: string];

/**
 * Says what each claim of a token means.
 *
 * @param userIdClaim the claim that names the user
 * @param nowSeconds  since 1970, for times such as "in 2 hours"
 */
export function explainedClaims(
  claims: JsonObject,
  userIdClaim: string,
  nowSeconds: number,
): readonly ExplainedClaim[] {
  return Object.entries(claims).map(([name, value]) => {
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    const meaning = name === userIdClaim ? userMeaning(shown) : (meanings.get(name) ?? "ignored");
    const time =
      times.has(name) && typeof value === "number" ? `${timeOf(value, nowSeconds)}: ` : "";
    return [name, shown, `${time}${meaning}`];
  });
}

function userMeaning(user: string): string {
  return user === "" ? "the user: anonymous" : "the user";
}

/** A time in seconds since 1970, as a date and as its distance from now. */
function timeOf(seconds: number, nowSeconds: number): string {
  if (seconds === 0) return "never";
  if (Math.abs(seconds) > 8.64e12) return "no date";
  const date = new Date(seconds * 1_000).toISOString().replace(".000Z", "Z");
  const distance = distanceOf(Math.abs(seconds - nowSeconds));
  return `${date} (${seconds > nowSeconds ? `in ${distance}` : `${distance} ago`})`;
}

function distanceOf(seconds: number): string {
  const units = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
    [1, "second"],
  ] as const;
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, "second"];
  const count = Math.floor(seconds / size);
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

const times: ReadonlySet<string> = new Set(["exp", "nbf", "iat", "expire_at"]);

const meanings: ReadonlyMap<string, string> = new Map([
  ["exp", "the token's end; without expire_at, also that of the connection or subscription"],
  ["nbf", "the time from which the token is valid"],
  ["iat", "when the token was issued; invalidate_user_tokens compares it"],
  ["jti", "the token's name, by which revoke_token revokes it"],
  ["aud", "the audience; compared if the configuration has one"],
  ["iss", "the issuer; compared, or chooses the keys, if the configuration says so"],
  ["expire_at", "the end of the connection or subscription"],
  ["info", "shown to other clients"],
  ["b64info", "shown to other clients, in base64; wins over info"],
  ["meta", "kept on the server for hooks"],
  ["channels", "server-side subscriptions"],
  ["subs", "server-side subscriptions with options; channels has no effect beside it"],
  ["caps", "capabilities: what the client may do beside the namespaces' options"],
  ["channel", "makes it a subscription token for this channel"],
  ["client", "the only connection that may use the token"],
  ["data", "returned to the subscriber"],
  ["b64data", "returned to the subscriber, in base64; wins over data"],
  ["override", "namespace options that are replaced for this subscription"],
  ["server_tags_filter", "the publications that the subscriber gets"],
]);
