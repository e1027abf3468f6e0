/**
 * Parses the payloads of tokens into claims, and checks the claims against the operator's rules (docs/protocol.md 5.1
 * and 5.2). The signature has been verified before (rule A2), in `workers/platform`. A reason for a refusal quotes no
 * value of a claim (rule A7).
 */
import { limits } from "../limits.ts";
import { parseCapabilities } from "./capabilities.ts";
import { parseMembers } from "./members.ts";
import type { Pattern } from "./pattern.ts";
import { relativeTime } from "./refusal.ts";
import { parseServerFilter } from "../protocol/json/decode.ts";
import {
  type JsonObjectText,
  type JsonText,
  memberText,
  parseJsonObject,
} from "../protocol/json/text.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  isJsonArray,
} from "../protocol/wire-value.ts";
import type {
  ConnectionClaims,
  ConnectionVerdict,
  SubscriptionClaims,
  SubscriptionVerdict,
  TokenOutcome,
  ServerSubscription,
  SubscriptionOverride,
} from "./claims.ts";
import { parseBase64, payloadText } from "../protocol/payload.ts";

/**
 * Parses the payload of a connection token whose signature has been verified (docs/protocol.md 5.1).
 *
 * @param payload the token's payload, UTF-8 JSON text
 * @param nowMs   milliseconds since 1970, compared with `exp` and `nbf`
 */
export function parseConnectionClaims(
  payload: string,
  rules: ClaimRules,
  nowMs: number,
): ConnectionVerdict {
  const read = parseJsonObject(payload);
  if (read === undefined) return invalid("the payload is not a JSON object");
  // A subscription token must not open a connection, even if both kinds of token share one key.
  if (read.fields["channel"] !== undefined)
    return invalid("a subscription token can't open a connection");
  const base = parseBase(read, rules, nowMs);
  if (base.outcome !== "verified") return base;
  const parsed = parseServerSubscriptions(read.text, read.fields);
  if (parsed.outcome === "invalid") return parsed;
  const { subscriptions } = parsed;
  const caps = parseCapabilities(read.fields["caps"]);
  if (caps.outcome === "invalid") return caps;
  const hasMeta = (read.fields["meta"] ?? null) !== null;
  const metaText = hasMeta ? memberText(read.text, "meta") : undefined;
  const claims: ConnectionClaims = {
    ...base.claims,
    ...(metaText === undefined ? {} : { meta: metaText }),
    ...(caps.text === undefined ? {} : { capabilities: caps.text }),
    ...(subscriptions.length === 0 ? {} : { subscriptions }),
  };
  return { outcome: "verified", claims };
}

/** Parses the payload of a subscription token whose signature has been verified (docs/protocol.md 5.2). */
export function parseSubscriptionClaims(
  payload: string,
  rules: ClaimRules,
  nowMs: number,
): SubscriptionVerdict {
  const read = parseJsonObject(payload);
  if (read === undefined) return invalid("the payload is not a JSON object");
  const channel = read.fields["channel"];
  if (typeof channel !== "string" || channel === "") return invalid('"channel" claim is missing');
  const client = read.fields["client"] ?? "";
  if (typeof client !== "string") return invalid('"client" claim must be a string');
  const override = parseOverride(read.fields["override"]);
  if (override === undefined)
    return invalid('"override" claim must be an object of {"value": boolean} objects');
  const base = parseBase(read, rules, nowMs);
  if (base.outcome !== "verified") return base;
  const data = readRawClaim(read.text, read.fields, dataClaim);
  if (data.outcome === "invalid") return data;
  const filter = parseServerFilter(read.fields);
  if (filter.outcome === "invalid") return filter;
  const { serverFilter } = filter;
  const named = parseMembers(read.fields);
  if (named.outcome === "invalid") return named;
  const { members } = named;
  const claims: SubscriptionClaims = {
    ...base.claims,
    channel,
    client,
    override,
    ...(data.text === undefined ? {} : { data: data.text }),
    ...(serverFilter === undefined ? {} : { serverFilter }),
    ...(members && { members }),
  };
  return { outcome: "verified", claims };
}

/**
 * The issuer that a token names, before its signature has been verified: it only chooses the keys that verify it (rule
 * A15). {@link parseConnectionClaims} and {@link parseSubscriptionClaims} read it again afterwards, in the same way.
 *
 * @param token three parts in base64url
 * @returns undefined if it names none, or if its payload isn't a JSON object
 */
export function unverifiedIssuer(token: string): string | undefined {
  const [, encoded = ""] = token.split(".");
  const payload = parseBase64Json(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  const issuer = payload === undefined ? undefined : parseJsonObject(payload)?.fields["iss"];
  return typeof issuer === "string" ? issuer : undefined;
}

interface BaseClaims {
  readonly user: string;
  readonly expireAtSeconds: number;
  readonly uid?: string;
  readonly issuedAtSeconds?: number;
  readonly info?: JsonText;
}

/**
 * Parses the claims that both kinds of token have. The token's own expiry is checked before the rules for `aud` and
 * `iss`.
 */
function parseBase(
  { text, fields }: JsonObjectText,
  rules: ClaimRules,
  nowMs: number,
): TokenOutcome<BaseClaims> {
  const user = parseUser(fields, rules.userIdClaim);
  if (user === undefined)
    return invalid(`"${rules.userIdClaim}" claim must be a well-formed string`);
  const expiresAt = parseNumericDate(fields["exp"]);
  if (expiresAt === undefined) return invalid('"exp" claim must be a number');
  const notBefore = parseNumericDate(fields["nbf"]);
  if (notBefore === undefined) return invalid('"nbf" claim must be a number');
  const expireAt = parseTime(fields["expire_at"]);
  if (expireAt === undefined) return invalid('"expire_at" claim must be a number');
  const issuedAt = parseNumericDate(fields["iat"]);
  if (issuedAt === undefined) return invalid('"iat" claim must be a number');
  const uid = fields["jti"] ?? "";
  if (typeof uid !== "string" || !isTokenUid(uid)) return invalid(uidFault);
  const info = readRawClaim(text, fields, infoClaim);
  if (info.outcome === "invalid") return info;
  const nowSeconds = nowMs / 1000;
  if (expiresAt !== "absent" && expiresAt <= nowSeconds)
    return { outcome: "expired", reason: `exp was ${relativeTime(expiresAt, nowSeconds)}` };
  // A token that isn't valid yet is treated like an expired one: the client asks for a new token and tries again.
  if (notBefore !== "absent" && notBefore > nowSeconds)
    return { outcome: "expired", reason: `nbf is ${relativeTime(notBefore, nowSeconds)}` };
  const fault = claimFault(fields, rules);
  if (fault !== undefined) return invalid(fault);
  const end = expireAt === "absent" ? expiresAt : expireAt;
  // 0 means that there is no end. A time before 1970, or in its first second, is an end in the past, and must not
  // become 0.
  const expireAtSeconds = end === "absent" || end === 0 ? 0 : Math.max(1, Math.floor(end));
  const claims = {
    user,
    expireAtSeconds,
    ...(uid === "" ? {} : { uid }),
    ...(issuedAt === "absent" ? {} : { issuedAtSeconds: issuedAt }),
    ...(info.text === undefined ? {} : { info: info.text }),
  };
  return { outcome: "verified", claims };
}

/** Whether a text can be the claim `jti` of a token; "" is none. */
export function isTokenUid(text: string): boolean {
  return text.length <= limits.tokenUidCharactersMax && text.isWellFormed();
}

const uidFault = `"jti" claim must be a well-formed string of at most ${limits.tokenUidCharactersMax} characters`;

/**
 * The operator chooses the claim's name, which may be one that every object inherits. A lone surrogate would be replaced
 * where the ID is stored or hashed, which would make one user of two.
 */
function parseUser(fields: JsonObject, claim: string): string | undefined {
  const user = Object.hasOwn(fields, claim) ? (fields[claim] ?? "") : "";
  return typeof user === "string" && user.isWellFormed() ? user : undefined;
}

/** Parses a time in seconds since 1970. A negative time is valid, and long past. */
function parseTime(value: JsonValue | undefined): number | "absent" | undefined {
  if (value === undefined || value === null) return "absent";
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** As {@link parseTime}, of a time of RFC 7519: Centrifugo takes these in a string as well, but not its own `expire_at`. */
function parseNumericDate(value: JsonValue | undefined): number | "absent" | undefined {
  return parseTime(typeof value === "string" && numeral.test(value) ? Number(value) : value);
}

/** A number as JSON writes it. `Number` alone would take "", " 1" and "0x1" as well. */
const numeral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function invalid(reason: string): { readonly outcome: "invalid"; readonly reason: string } {
  return { outcome: "invalid", reason };
}

/** The operator's requirements for the claims of every token (docs/protocol.md 5.1 and 5.3). */
export interface ClaimRules {
  /** The claim that names the user: `sub` unless the operator chooses another one. */
  readonly userIdClaim: string;
  /** One of the token's audiences must equal this one. */
  readonly audience?: string;
  /** One of the token's audiences must match this pattern. */
  readonly audienceRegex?: Pick<Pattern, "test">;
  readonly issuer?: string;
  readonly issuerRegex?: Pick<Pattern, "test">;
}

/**
 * Checks the audience and the issuer of a token. A claim without a rule isn't checked.
 *
 * @returns what is wrong, without any value; undefined if nothing is
 */
function claimFault(fields: JsonObject, rules: ClaimRules): string | undefined {
  const { audience, audienceRegex, issuer, issuerRegex } = rules;
  if (audience !== undefined || audienceRegex !== undefined) {
    const audiences = textsOf(fields["aud"]);
    const forUs =
      (audience === undefined || audiences.includes(audience)) &&
      (audienceRegex === undefined || audiences.some((text) => audienceRegex.test(text)));
    if (!forUs) return 'unexpected "aud" claim';
  }
  if (issuer !== undefined || issuerRegex !== undefined) {
    const given = fields["iss"];
    const trusted =
      typeof given === "string" &&
      (issuer === undefined || given === issuer) &&
      (issuerRegex === undefined || issuerRegex.test(given));
    if (!trusted) return 'unexpected "iss" claim';
  }
  return undefined;
}

/**
 * The audiences of an `aud` claim, which may be a single string (RFC 7519 section 4.1.3). Values that aren't strings
 * match nothing.
 */
function textsOf(value: JsonValue | undefined): readonly string[] {
  const values = value !== undefined && isJsonArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}

/** The server-side subscriptions of a connection token, or what is wrong with the claims about them. */
type ParsedServerSubscriptions =
  | { readonly outcome: "read"; readonly subscriptions: readonly ServerSubscription[] }
  | { readonly outcome: "invalid"; readonly reason: string };

/**
 * Parses the claims `channels` and `subs` of a connection token, and returns each channel once. If `subs` names any
 * channel, `channels` is ignored (docs/protocol.md 5.1). The number of channels isn't checked here. The token's length
 * bounds it, and a connection with too many is closed with a code of its own (rule G1).
 *
 * @param text   the payload as its sender wrote it
 * @param fields the same payload, parsed
 */
export function parseServerSubscriptions(
  text: string,
  fields: JsonObject,
): ParsedServerSubscriptions {
  const channels = parseChannels(fields["channels"]);
  if (channels === undefined) return invalid('"channels" claim must be an array of strings');
  const subs = fields["subs"] ?? {};
  if (!isJsonObject(subs)) return invalid('"subs" claim must be an object of objects');
  const entries = Object.entries(subs);
  if (entries.length === 0) {
    const subscriptions = [...channels].map((channel) => ({ channel, override: {} }));
    return { outcome: "read", subscriptions };
  }
  const subsText = memberText(text, "subs") ?? "{}";
  const subscriptions: ServerSubscription[] = [];
  for (const [channel, options] of entries) {
    const parsed = parseSubscription(subsText, channel, options);
    if (parsed.outcome === "invalid") return parsed;
    subscriptions.push(parsed.subscription);
  }
  return { outcome: "read", subscriptions };
}

function parseChannels(value: JsonValue | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return new Set();
  if (!isJsonArray(value)) return undefined;
  const channels = new Set<string>();
  for (const channel of value) {
    if (typeof channel !== "string") return undefined;
    channels.add(channel);
  }
  return channels;
}

type ParsedSubscription =
  | { readonly outcome: "read"; readonly subscription: ServerSubscription }
  | { readonly outcome: "invalid"; readonly reason: string };

function parseSubscription(
  subsText: string,
  channel: string,
  options: JsonValue,
): ParsedSubscription {
  const fields = options ?? {};
  if (!isJsonObject(fields)) return invalid('"subs" claim must be an object of objects');
  const override = parseOverride(fields["override"]);
  if (override === undefined)
    return invalid('"subs" claim: "override" must be an object of {"value": boolean} objects');
  // Finding the object's text means scanning all texts before it, so it is skipped if the text isn't needed, which is
  // the usual case.
  const text = hasPayload(fields) ? (memberText(subsText, channel) ?? "{}") : "{}";
  const info = readRawClaim(text, fields, infoClaim);
  if (info.outcome === "invalid") return invalid(`"subs" claim: ${info.reason}`);
  const data = readRawClaim(text, fields, dataClaim);
  if (data.outcome === "invalid") return invalid(`"subs" claim: ${data.reason}`);
  const filter = parseServerFilter(fields);
  if (filter.outcome === "invalid") return invalid(`"subs" claim: ${filter.reason}`);
  const { serverFilter } = filter;
  const named = parseMembers(fields);
  if (named.outcome === "invalid") return invalid(`"subs" claim: ${named.reason}`);
  const { members } = named;
  const subscription: ServerSubscription = {
    channel,
    override,
    ...(info.text === undefined ? {} : { info: info.text }),
    ...(data.text === undefined ? {} : { data: data.text }),
    ...(serverFilter === undefined ? {} : { serverFilter }),
    ...(members && { members }),
  };
  return { outcome: "read", subscription };
}

function hasPayload(fields: JsonObject): boolean {
  return fields["info"] !== undefined || fields["data"] !== undefined;
}

/**
 * Parses an `override`: an object of `{"value": boolean}` objects (docs/protocol.md 5.1).
 *
 * @param given undefined or null if there is none
 * @returns undefined if it is malformed
 */
export function parseOverride(given: JsonValue | undefined): SubscriptionOverride | undefined {
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

/** The text of a claim as its sender wrote it, undefined if the claim is absent; or why it can't be parsed. */
type RawClaim =
  | { readonly outcome: "read"; readonly text: JsonText | undefined }
  | { readonly outcome: "invalid"; readonly reason: string };

/** The two names of a claim that is passed on to clients as it was written: one for JSON, one for base64 of JSON. */
interface RawClaimNames {
  readonly plain: string;
  readonly base64: string;
}

/** Shown to other clients. */
export const infoClaim: RawClaimNames = { plain: "info", base64: "b64info" };
/** Returned to the client. */
export const dataClaim: RawClaimNames = { plain: "data", base64: "b64data" };

/**
 * Reads such a claim of an object. The base64 form takes precedence over the plain one (docs/protocol.md 5.1).
 *
 * @param text   the object as its sender wrote it, valid JSON
 * @param fields the same object, parsed
 */
export function readRawClaim(text: string, fields: JsonObject, names: RawClaimNames): RawClaim {
  const encoded = fields[names.base64];
  if (encoded !== undefined && encoded !== null && encoded !== "") {
    const decoded = typeof encoded === "string" ? parseBase64Json(encoded) : undefined;
    return decoded === undefined
      ? { outcome: "invalid", reason: `"${names.base64}" must be base64 of JSON` }
      : { outcome: "read", text: decoded };
  }
  const plain = memberText(text, names.plain);
  return { outcome: "read", text: plain === "null" ? undefined : plain };
}

/** Decodes base64 of UTF-8 JSON; undefined if the text is something else. */
export function parseBase64Json(encoded: string): JsonText | undefined {
  const bytes = parseBase64(encoded);
  return bytes === undefined ? undefined : payloadText(bytes);
}
