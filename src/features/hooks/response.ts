/**
 * Reads what backends answer (docs/protocol.md 7). An answer that can't be read has a reason for the log, which names the
 * field and quotes nothing (rule A7).
 */
import { parseMembers } from "../../access/members.ts";
import { parseCapabilities } from "../../access/capabilities.ts";
import type { ConnectionClaims, ServerSubscription, SubscribeTerms } from "../../access/claims.ts";
import {
  dataClaim,
  infoClaim,
  parseOverride,
  parseServerSubscriptions,
  readRawClaim,
} from "../../access/parse-claims.ts";
import type { HookRefusal } from "../../config/config.ts";
import { isDisconnectReason } from "./backends.ts";
import type { PublicationRequest } from "../../contract/channel-call.ts";
import { isKey, type MapPublishRequest, type MapRemoveRequest } from "../maps/map-call.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { int32Max } from "../../protocol/fields.ts";
import { parseServerFilter } from "../../protocol/json/decode.ts";
import { type JsonText, memberText, parseJsonObject } from "../../protocol/json/text.ts";
import { memberUint64 } from "../../protocol/json/fields.ts";
import { parseBase64, type Payload, payloadLength, payloadOf } from "../../protocol/payload.ts";
import { areTags } from "../../protocol/publication.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonValue,
} from "../../protocol/wire-value.ts";

/** A backend's response: its result, which it may leave out, or a refusal. */
export type HookResponse =
  | { readonly outcome: "result"; readonly result: JsonText | undefined }
  | HookRefusal
  | Invalid;

/** The response or its result can't be read. */
export interface Invalid {
  readonly outcome: "invalid";
  readonly reason: string;
}

/** Parses the body of a response with status 200. As in Centrifugo a disconnect goes before an error, and that before a result. */
export function parseHookResponse(body: string): HookResponse {
  const response = parseJsonObject(body);
  if (response === undefined) return invalid("the response is not a JSON object");
  const { disconnect = null, error = null, result = null } = response.fields;
  if (disconnect !== null) return parseDisconnect(disconnect);
  if (error !== null) return parseError(error);
  if (result === null) return { outcome: "result", result: undefined };
  if (!isJsonObject(result)) return invalid('"result" is not an object');
  return { outcome: "result", result: memberText(response.text, "result") };
}

function parseDisconnect(given: JsonValue): HookResponse {
  if (!isJsonObject(given)) return invalid('"disconnect" is not an object');
  const { code, reason = "" } = given;
  if (typeof code !== "number" || !Number.isInteger(code) || code < 3_000 || code > 4_999)
    return invalid('"disconnect.code" is not from 3000 to 4999');
  if (typeof reason !== "string" || !isDisconnectReason(reason))
    return invalid(
      `"disconnect.reason" has more than ${limits.disconnectReasonBytesMax} bytes, or is valid JSON`,
    );
  return { outcome: "disconnect", code: { code, reason } };
}

function parseError(given: JsonValue): HookResponse {
  if (!isJsonObject(given)) return invalid('"error" is not an object');
  const { code, message = "", temporary = false } = given;
  // Smaller codes are what clients themselves call an error.
  if (typeof code !== "number" || !Number.isInteger(code) || code < 100 || code > int32Max)
    return invalid('"error.code" is not from 100 to 2147483647');
  if (typeof message !== "string" || typeof temporary !== "boolean")
    return invalid(
      '"error" has a "message" that is not a string, or a "temporary" that is not true or false',
    );
  return { outcome: "error", error: { code, message, temporary } };
}

/** The result of `connect`: the credentials of the connection, and the `data` of its reply. */
export type ConnectResultRead =
  | { readonly outcome: "read"; readonly claims: ConnectionClaims; readonly data?: JsonText }
  | Invalid;

/** Parses the result of `connect`. */
export function parseConnectResult(text: JsonText): ConnectResultRead {
  const fields = objectOf(text);
  const { user = "" } = fields;
  if (typeof user !== "string" || !user.isWellFormed())
    return invalid('"user" is not a well-formed string');
  // As in Centrifugo a result may leave `user` out for an anonymous user. One that says something else instead, such as
  // `id`, doesn't mean that.
  if (user === "" && hasOtherField(fields, "connect"))
    return invalid('"user" is missing, and there is a field that a connect result doesn\'t have');
  const base = readLife(text, fields);
  if (base.outcome === "invalid") return base;
  const data = readRawClaim(text, fields, dataClaim);
  if (data.outcome === "invalid") return data;
  const subs = parseServerSubscriptions(text, { ...fields, channels: null });
  if (subs.outcome === "invalid") return subs;
  const channels = parseServerSubscriptions("{}", { channels: fields["channels"] ?? null });
  if (channels.outcome === "invalid") return channels;
  const capabilities = parseCapabilities(fields["caps"]);
  if (capabilities.outcome === "invalid") return capabilities;
  // Unlike in a token, both may be there.
  const isNew = ({ channel }: ServerSubscription) =>
    !subs.subscriptions.some((one) => one.channel === channel);
  const all = [...subs.subscriptions, ...channels.subscriptions.filter(isNew)];
  const claims: ConnectionClaims = {
    user,
    ...base.life,
    ...(capabilities.text === undefined ? {} : { capabilities: capabilities.text }),
    ...(all.length === 0 ? {} : { subscriptions: all }),
  };
  return { outcome: "read", claims, ...(data.text === undefined ? {} : { data: data.text }) };
}

/** The fields of the results of hooks that functions may be (docs/protocol.md 7). */
export const resultFields: Readonly<Record<string, readonly string[]>> = {
  connect: [
    "user",
    "expire_at",
    "info",
    "b64info",
    "data",
    "b64data",
    "channels",
    "subs",
    "meta",
    "caps",
    "labels",
  ],
  refresh: ["expired", "expire_at", "info", "b64info", "meta"],
  subscribe: [
    "expire_at",
    "info",
    "b64info",
    "data",
    "b64data",
    "override",
    "server_tags_filter",
    "members",
  ],
  publish: [
    "data",
    "b64data",
    "skip_history",
    "tags",
    "idempotency_key",
    "delta",
    "version",
    "version_epoch",
  ],
  rpc: ["data", "b64data"],
};

/** Whether a result has a field that results of the hook don't have. */
export function hasOtherField(fields: JsonObject, hook: string): boolean {
  return Object.keys(fields).some((name) => resultFields[hook]?.includes(name) === false);
}

/** When a connection or subscription ends, and the info that others are shown of it, as a backend says them. */
export interface Life {
  /** When it ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  readonly info?: JsonText;
  /** Of connections. */
  readonly meta?: JsonText;
}

/** The result of `refresh` and `sub_refresh`: "expired" says that the connection or the subscription ends. */
export type RefreshResultRead =
  | { readonly outcome: "read"; readonly life: Life }
  | { readonly outcome: "expired" }
  | Invalid;

/**
 * Parses the result of `refresh` or `sub_refresh`.
 *
 * @param text undefined if the response has no result, which means that the life ends (docs/protocol.md 7)
 */
export function parseRefreshResult(text: JsonText | undefined): RefreshResultRead {
  if (text === undefined) return { outcome: "expired" };
  const fields = objectOf(text);
  const { expired = false } = fields;
  if (typeof expired !== "boolean" && expired !== null)
    return invalid('"expired" is not true or false');
  return expired === true ? { outcome: "expired" } : readLife(text, fields);
}

export type SubscribeResultRead =
  | { readonly outcome: "read"; readonly terms: SubscribeTerms }
  | Invalid;

/**
 * Parses the result of `subscribe`.
 *
 * @param text undefined if the response has no result: the subscription is allowed as the namespace says
 */
export function parseSubscribeResult(text: JsonText | undefined): SubscribeResultRead {
  if (text === undefined) return { outcome: "read", terms: { expireAtSeconds: 0, override: {} } };
  const fields = objectOf(text);
  const base = readLife(text, fields);
  if (base.outcome === "invalid") return base;
  const data = readRawClaim(text, fields, dataClaim);
  if (data.outcome === "invalid") return data;
  const override = parseOverride(fields["override"]);
  if (override === undefined)
    return invalid('"override" is not an object of {"value": boolean} objects');
  const filter = parseServerFilter(fields);
  if (filter.outcome === "invalid") return filter;
  const { meta: _, ...life } = base.life;
  const { serverFilter } = filter;
  const named = parseMembers(fields);
  if (named.outcome === "invalid") return named;
  const { members } = named;
  const terms = {
    ...life,
    override,
    ...(data.text === undefined ? {} : { data: data.text }),
    ...(serverFilter === undefined ? {} : { serverFilter }),
    ...(members && { members }),
  };
  return { outcome: "read", terms };
}

export type PublishResultRead =
  | { readonly outcome: "read"; readonly request: PublicationRequest }
  | Invalid;

/**
 * Parses the result of `publish` into the request to the channel. The namespace's `delta_publish` has no effect then
 * (docs/protocol.md 7); the caller knows it.
 *
 * @param text undefined if the response has no result: the client's data is published as it is
 * @param data the client's
 */
export function parsePublishResult(text: JsonText | undefined, data: Payload): PublishResultRead {
  const fields = text === undefined ? {} : objectOf(text);
  const replaced = text === undefined ? noData : readData(text, fields);
  if (replaced.outcome === "invalid") return replaced;
  const published = replaced.data ?? data;
  if (payloadLength(published) > limits.publicationBytesMax)
    return invalid(`"data" has more than ${limits.publicationBytesMax} bytes`);
  const read = readOptions(text, fields);
  if (read.outcome === "invalid") return read;
  const { skip_history = null } = fields;
  const skipHistory = skip_history ?? false;
  if (typeof skipHistory !== "boolean") return invalid('"skip_history" is not true or false');
  return { outcome: "read", request: { data: published, ...read.options, skipHistory } };
}

/** The options that the results of `publish` and `map_publish` share, beside the data. */
type PublicationOptions = Omit<PublicationRequest, "data" | "skipHistory">;

function readOptions(
  text: JsonText | undefined,
  fields: JsonObject,
): { readonly outcome: "read"; readonly options: PublicationOptions } | Invalid {
  const { delta = null, idempotency_key = null, version_epoch = null } = fields;
  const idempotencyKey = idempotency_key ?? "";
  const versionEpoch = version_epoch ?? "";
  const mayBeDelta = delta ?? false;
  const tags = fields["tags"] ?? {};
  if (typeof mayBeDelta !== "boolean") return invalid('"delta" is not true or false');
  if (typeof idempotencyKey !== "string" || typeof versionEpoch !== "string")
    return invalid('"idempotency_key" or "version_epoch" is not a string');
  if (!isJsonObject(tags) || !areTags(tags)) return invalid('"tags" is not an object of strings');
  const tooLong =
    !utf8Fits(idempotencyKey, limits.idempotencyKeyBytesMax) ||
    !utf8Fits(versionEpoch, limits.versionEpochBytesMax) ||
    !utf8Fits(JSON.stringify(tags), limits.tagsBytesMax);
  if (tooLong) return invalid('"idempotency_key", "version_epoch" or "tags" is too long');
  const version = text === undefined ? 0n : memberUint64(text, "version");
  if (version === undefined) return invalid('"version" is not an unsigned 64 bit integer');
  const options = {
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    idempotencyKey,
    version,
    versionEpoch,
    delta: mayBeDelta,
  };
  return { outcome: "read", options };
}

export type MapPublishResultRead =
  | { readonly outcome: "read"; readonly request: MapPublishRequest }
  | Invalid;

/**
 * Parses the result of `map_publish` into the request to the channel.
 *
 * @param text   undefined if the response has no result: the client's key and data are published as they are
 * @param wanted the client's
 */
export function parseMapPublishResult(
  text: JsonText | undefined,
  wanted: { readonly key: string; readonly data: Payload },
): MapPublishResultRead {
  const fields = text === undefined ? {} : objectOf(text);
  const replaced = text === undefined ? noData : readData(text, fields);
  if (replaced.outcome === "invalid") return replaced;
  const key = readKey(fields, wanted.key);
  if (key === undefined) return invalid(keyRule);
  const data = replaced.data ?? wanted.data;
  const given = text === undefined ? undefined : memberText(text, "stream_data");
  const streamData = given === "null" ? undefined : given;
  const streamBytes = streamData === undefined ? 0 : payloadLength(streamData);
  if (Math.max(payloadLength(data), streamBytes) > limits.publicationBytesMax)
    return invalid(`"data" or "stream_data" has more than ${limits.publicationBytesMax} bytes`);
  const read = readOptions(text, fields);
  if (read.outcome === "invalid") return read;
  const score = fields["score"] ?? 0;
  if (typeof score !== "number" || !Number.isSafeInteger(score))
    return invalid('"score" is not a whole number within 2^53');
  const keyMode = fields["key_mode"] ?? "";
  if (keyMode !== "" && keyMode !== "if_new" && keyMode !== "if_exists")
    return invalid('"key_mode" is neither "if_new" nor "if_exists"');
  const request: MapPublishRequest = {
    key,
    data,
    ...read.options,
    ...(streamData === undefined ? {} : { streamData }),
    ...(score === 0 ? {} : { score }),
    keyMode,
  };
  return { outcome: "read", request };
}

export type MapRemoveResultRead =
  | { readonly outcome: "read"; readonly request: MapRemoveRequest }
  | Invalid;

/**
 * Parses the result of `map_remove` into the request to the channel.
 *
 * @param text   undefined if the response has no result: the client's key is removed
 * @param wanted the client's key
 */
export function parseMapRemoveResult(
  text: JsonText | undefined,
  wanted: string,
): MapRemoveResultRead {
  const fields = text === undefined ? {} : objectOf(text);
  const key = readKey(fields, wanted);
  if (key === undefined) return invalid(keyRule);
  const read = readOptions(text, fields);
  if (read.outcome === "invalid") return read;
  const { tags, idempotencyKey } = read.options;
  const request = { key, idempotencyKey, ...(tags === undefined ? {} : { tags }) };
  return { outcome: "read", request };
}

/** The key of a result, or else the client's; undefined if it isn't one. */
function readKey({ key = null }: JsonObject, wanted: string): string | undefined {
  const read = key === null || key === "" ? wanted : key;
  return typeof read === "string" && (read === "" || isKey(read)) ? read : undefined;
}

const keyRule = `"key" is not a string of well-formed Unicode, of at most ${limits.mapKeyBytesMax} bytes`;

export type DataRead = { readonly outcome: "read"; readonly data: Payload | undefined } | Invalid;

/** Parses the result of `rpc`; undefined if the response has none: then the reply has no data. */
export function parseRpcResult(text: JsonText | undefined): DataRead {
  return text === undefined ? noData : readData(text, objectOf(text));
}

const noData: DataRead = { outcome: "read", data: undefined };

/** Reads `b64data`, which goes before `data`, or `data` as it was written. */
export function readData(text: JsonText, { b64data = "" }: JsonObject): DataRead {
  if (b64data !== "" && b64data !== null) {
    const bytes = typeof b64data === "string" ? parseBase64(b64data) : undefined;
    return bytes === undefined
      ? invalid('"b64data" is not base64')
      : { outcome: "read", data: payloadOf(bytes) };
  }
  const data = memberText(text, "data");
  // Go can't tell null from a field that is absent.
  return { outcome: "read", data: data === "null" ? undefined : data };
}

/** Reads `expire_at`, `info` and `meta`. */
function readLife(
  text: JsonText,
  fields: JsonObject,
): { readonly outcome: "read"; readonly life: Life } | Invalid {
  const expireAt = fields["expire_at"] ?? 0;
  if (typeof expireAt !== "number" || !Number.isFinite(expireAt))
    return invalid('"expire_at" is not a number');
  const info = readRawClaim(text, fields, infoClaim);
  if (info.outcome === "invalid") return info;
  const hasMeta = (fields["meta"] ?? null) !== null;
  const metaText = hasMeta ? memberText(text, "meta") : undefined;
  const life = {
    // A time before 1970, or in its first second, is an end in the past, and must not become 0.
    expireAtSeconds: expireAt === 0 ? 0 : Math.max(1, Math.floor(expireAt)),
    ...(info.text === undefined ? {} : { info: info.text }),
    ...(metaText === undefined ? {} : { meta: metaText }),
  };
  return { outcome: "read", life };
}

/** The members of a result, which is an object: {@link parseHookResponse} has seen to it. Of anything else, none. */
export function objectOf(text: JsonText): JsonObject {
  const fields = jsonValue(text);
  return isJsonObject(fields) ? fields : {};
}

/** A response or a result that can't be read, for this reason. */
export function invalid(reason: string): Invalid {
  return { outcome: "invalid", reason };
}
