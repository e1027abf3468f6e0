import { memberText, parseJsonText, type JsonText } from "../protocol/json-text.ts";
import {
  isJsonObject,
  jsonValue,
  type JsonObject,
  type JsonValue,
} from "../protocol/json-value.ts";
import type {
  ConnectionClaims,
  ConnectionVerdict,
  SubscriptionClaims,
  SubscriptionOverride,
  SubscriptionVerdict,
  Verdict,
} from "./claims.ts";

/**
 * Reads the payload of a connection token whose signature is already known to be good (reference 5.1).
 *
 * @param payload the token's payload, UTF-8 JSON text
 * @param nowMs   milliseconds since 1970, against which `exp` and `nbf` are held
 */
export function parseConnectionClaims(payload: string, nowMs: number): ConnectionVerdict {
  const read = readPayload(payload);
  if (read === undefined) return invalid("the payload is not a JSON object");
  // A subscription token must not open a connection, even when both kinds share one key.
  if (read.fields["channel"] !== undefined)
    return invalid("a subscription token can't open a connection");
  const base = parseBase(read, nowMs);
  if (base.outcome !== "verified") return base;
  const { user, expireAtSeconds, info } = base.claims;
  const claims: ConnectionClaims = {
    user,
    expireAtSeconds,
    ...(info === undefined ? {} : { info }),
  };
  return { outcome: "verified", claims };
}

/** Reads the payload of a subscription token whose signature is already known to be good (reference 5.2). */
export function parseSubscriptionClaims(payload: string, nowMs: number): SubscriptionVerdict {
  const read = readPayload(payload);
  if (read === undefined) return invalid("the payload is not a JSON object");
  const channel = read.fields["channel"];
  if (typeof channel !== "string" || channel === "") return invalid("channel is missing");
  const client = read.fields["client"] ?? "";
  if (typeof client !== "string") return invalid("client is not a string");
  const override = parseOverride(read.fields["override"]);
  if (override === undefined) return invalid("override is not an object of {value: boolean}");
  const base = parseBase(read, nowMs);
  if (base.outcome !== "verified") return base;
  const data = parseRaw(read, "data", "b64data");
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
function parseBase(payload: Payload, nowMs: number): Verdict<BaseClaims> {
  const { fields } = payload;
  const user = fields["sub"] ?? "";
  if (typeof user !== "string") return invalid("sub is not a string");
  const expiresAt = parseTime(fields["exp"]);
  if (expiresAt === undefined) return invalid("exp is not a number");
  const notBefore = parseTime(fields["nbf"]);
  if (notBefore === undefined) return invalid("nbf is not a number");
  const expireAt = parseTime(fields["expire_at"]);
  if (expireAt === undefined) return invalid("expire_at is not a number");
  const info = parseRaw(payload, "info", "b64info");
  if (info.outcome === "invalid") return info;
  const nowSeconds = nowMs / 1000;
  if (expiresAt !== "absent" && expiresAt <= nowSeconds) return { outcome: "expired" };
  // A token that isn't valid yet is answered like an expired one: the client asks for a new token and tries again.
  if (notBefore !== "absent" && notBefore > nowSeconds) return { outcome: "expired" };
  const end = expireAt === "absent" ? expiresAt : expireAt;
  // 0 says that there is no end; a fraction of the first second is one, long past, and must not round to none.
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

function parseTime(value: JsonValue | undefined): number | "absent" | undefined {
  if (value === undefined || value === null) return "absent";
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

type Raw =
  | { readonly outcome: "read"; readonly text: JsonText | undefined }
  | { readonly outcome: "invalid"; readonly reason: string };

/** JSON claims are shown to others as they were written; the base64 form of one wins over the plain form. */
function parseRaw(payload: Payload, plain: string, base64: string): Raw {
  const encoded = payload.fields[base64];
  if (encoded !== undefined && encoded !== null && encoded !== "") {
    const text = typeof encoded === "string" ? parseBase64Json(encoded) : undefined;
    return text === undefined
      ? invalid(`${base64} is not base64 of JSON`)
      : { outcome: "read", text };
  }
  const text = memberText(payload.text, plain);
  return { outcome: "read", text: text === "null" ? undefined : text };
}

/** Decodes base64 of UTF-8 JSON; undefined when it isn't that. */
export function parseBase64Json(encoded: string): JsonText | undefined {
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    return parseJsonText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined; // Both decoders throw on bad input, and only then.
  }
}

function parseOverride(given: JsonValue | undefined): SubscriptionOverride | undefined {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) return undefined;
  const override: { -readonly [Key in keyof SubscriptionOverride]: SubscriptionOverride[Key] } = {};
  for (const [name, key] of overrideNames) {
    const option = given[name];
    if (option === undefined || option === null) continue;
    const flag = isJsonObject(option) ? option["value"] : undefined;
    if (typeof flag !== "boolean") return undefined;
    override[key] = flag;
  }
  return override;
}

const overrideNames = [
  ["presence", "presence"],
  ["join_leave", "joinLeave"],
  ["force_push_join_leave", "forcePushJoinLeave"],
  ["force_positioning", "forcePositioning"],
  ["force_recovery", "forceRecovery"],
] as const satisfies readonly (readonly [string, keyof SubscriptionOverride])[];

function invalid(reason: string): { readonly outcome: "invalid"; readonly reason: string } {
  return { outcome: "invalid", reason };
}
