import { parseJsonText, type JsonText } from "../protocol/json/text.ts";
import {
  isJsonObject,
  jsonValue,
  type JsonObject,
  type JsonValue,
} from "../protocol/json-value.ts";
import { type ClaimRules, claimFault } from "./claim-rules.ts";
import type {
  ConnectionClaims,
  ConnectionVerdict,
  SubscriptionClaims,
  SubscriptionVerdict,
  Verdict,
} from "./claims.ts";
import { parseOverride } from "./parse-override.ts";
import { parseServerSubscriptions } from "./parse-server-subscriptions.ts";
import { dataClaim, infoClaim, readRawClaim } from "./raw-claim.ts";

/**
 * Reads the payload of a connection token whose signature is already known to be good (reference 5.1).
 *
 * @param payload the token's payload, UTF-8 JSON text
 * @param nowMs   milliseconds since 1970, against which `exp` and `nbf` are held
 */
export function parseConnectionClaims(
  payload: string,
  rules: ClaimRules,
  nowMs: number,
): ConnectionVerdict {
  const read = readPayload(payload);
  if (read === undefined) return invalid("the payload is not a JSON object");
  // A subscription token must not open a connection, even when both kinds share one key.
  if (read.fields["channel"] !== undefined)
    return invalid("a subscription token can't open a connection");
  const base = parseBase(read, rules, nowMs);
  if (base.outcome !== "verified") return base;
  const parsed = parseServerSubscriptions(read.text, read.fields);
  if (parsed.outcome === "invalid") return parsed;
  const { subscriptions } = parsed;
  const claims: ConnectionClaims = {
    ...base.claims,
    ...(subscriptions.length === 0 ? {} : { subscriptions }),
  };
  return { outcome: "verified", claims };
}

/** Reads the payload of a subscription token whose signature is already known to be good (reference 5.2). */
export function parseSubscriptionClaims(
  payload: string,
  rules: ClaimRules,
  nowMs: number,
): SubscriptionVerdict {
  const read = readPayload(payload);
  if (read === undefined) return invalid("the payload is not a JSON object");
  const channel = read.fields["channel"];
  if (typeof channel !== "string" || channel === "") return invalid("channel is missing");
  const client = read.fields["client"] ?? "";
  if (typeof client !== "string") return invalid("client is not a string");
  const override = parseOverride(read.fields["override"]);
  if (override === undefined) return invalid("override is not an object of {value: boolean}");
  const base = parseBase(read, rules, nowMs);
  if (base.outcome !== "verified") return base;
  const data = readRawClaim(read.text, read.fields, dataClaim);
  if (data.outcome === "invalid") return data;
  const claims: SubscriptionClaims = {
    ...base.claims,
    channel,
    client,
    override,
    ...(data.text === undefined ? {} : { data: data.text }),
  };
  return { outcome: "verified", claims };
}

interface Payload {
  readonly text: string;
  readonly fields: JsonObject;
}

interface BaseClaims {
  readonly user: string;
  readonly expireAtSeconds: number;
  readonly info?: JsonText;
}

/** What both kinds of token have in common. The end of a token's own life is judged before everything that may follow. */
function parseBase(
  { text, fields }: Payload,
  rules: ClaimRules,
  nowMs: number,
): Verdict<BaseClaims> {
  const user = parseUser(fields, rules.userIdClaim);
  if (user === undefined) return invalid(`${rules.userIdClaim} is not a string`);
  const expiresAt = parseTime(fields["exp"]);
  if (expiresAt === undefined) return invalid("exp is not a number");
  const notBefore = parseTime(fields["nbf"]);
  if (notBefore === undefined) return invalid("nbf is not a number");
  const expireAt = parseTime(fields["expire_at"]);
  if (expireAt === undefined) return invalid("expire_at is not a number");
  const info = readRawClaim(text, fields, infoClaim);
  if (info.outcome === "invalid") return info;
  const nowSeconds = nowMs / 1000;
  if (expiresAt !== "absent" && expiresAt <= nowSeconds) return { outcome: "expired" };
  // A token that isn't valid yet is answered like an expired one: the client asks for a new token and tries again.
  if (notBefore !== "absent" && notBefore > nowSeconds) return { outcome: "expired" };
  const fault = claimFault(fields, rules);
  if (fault !== undefined) return invalid(fault);
  const end = expireAt === "absent" ? expiresAt : expireAt;
  // 0 says that there is no end; what comes before, or in the first second, is one, long past, and must not become none.
  const expireAtSeconds = end === "absent" || end === 0 ? 0 : Math.max(1, Math.floor(end));
  const claims = { user, expireAtSeconds, ...(info.text === undefined ? {} : { info: info.text }) };
  return { outcome: "verified", claims };
}

function readPayload(text: string): Payload | undefined {
  const json = parseJsonText(text);
  if (json === undefined) return undefined;
  const fields = jsonValue(json);
  return isJsonObject(fields) ? { text: json, fields } : undefined;
}

/** The operator chooses the claim's name, which may be one that every object has. */
function parseUser(fields: JsonObject, claim: string): string | undefined {
  const user = Object.hasOwn(fields, claim) ? (fields[claim] ?? "") : "";
  return typeof user === "string" ? user : undefined;
}

/** A time before 1970 is one like any other: long past. */
function parseTime(value: JsonValue | undefined): number | "absent" | undefined {
  if (value === undefined || value === null) return "absent";
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function invalid(reason: string): { readonly outcome: "invalid"; readonly reason: string } {
  return { outcome: "invalid", reason };
}
