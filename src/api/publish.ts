import type { ChannelOptions } from "../config/config.ts";
import {
  type ApiCaller,
  type Entry,
  type ParsedCommand,
  singleCommand,
  type Malformed,
  overLimit,
  type Refused,
  refusedFeature,
  refusedIdempotencyKey,
  refusedRequest,
} from "./command.ts";
import {
  checkChannel,
  refusedFor,
  checkMethod,
  fieldsOf,
  type MethodRequest,
  optionalOffsetField,
  parseShape,
  type Shaped,
  shape,
  strayField,
  textField,
  textListField,
  flagField,
  objectField,
} from "./shape.ts";
import { detailOfMissing, unknownFields } from "./unknown-fields.ts";
import { limits } from "../limits.ts";
import type { PublicationRequest } from "../contract/channel-call.ts";
import { resolveChannel } from "../channel/channel-name.ts";
import { acceptsData } from "../channel/publication-request.ts";
import { memberUint64 } from "../protocol/json/fields.ts";
import { memberText } from "../protocol/json/text.ts";
import {
  emptyPayload,
  parseBase64,
  type Payload,
  payloadLength,
  payloadOf,
} from "../protocol/payload.ts";
import { areTags } from "../protocol/publication.ts";
import { utf8Fits } from "../protocol/bytes.ts";

function publishEntry(
  fields: Shaped<typeof publishShape>,
  asked: MethodRequest,
): Entry | Malformed {
  const { params, caller } = asked;
  const version = parseVersion(params);
  if (typeof version === "object") return version;
  const checked = checkChannel(fields.channel, asked);
  if (checked.outcome === "refused") return checked;
  const publication = parsePublication(params, fields, version, () => takesEmpty(checked.options));
  if (publication.outcome === "refused") return publication;
  const { if_offset: ifOffset } = fields;
  if (typeof ifOffset !== "number")
    return publishCall(fields.channel, publication.request, checked.options, caller);
  const request = { ...publication.request, ifOffset };
  return (
    refusedCondition(request, checked.options) ??
    publishCall(fields.channel, request, checked.options, caller)
  );
}

/** Refuses a condition that can't be checked, because the publication gets no offset. */
function refusedCondition(
  { skipHistory }: PublicationRequest,
  { historySize, historyTtlMs }: ChannelOptions,
): Refused | undefined {
  if (skipHistory) return refusedRequest("if_offset and skip_history exclude each other");
  if (historySize > 0 && historyTtlMs > 0) return undefined;
  return refusedFeature("if_offset requires a channel with history");
}

/** A `publish` request, without `data` and `version`, which are read from the text. */
const publishShape = shape(() => ({
  channel: textField(),
  ...publicationFields(),
  if_offset: optionalOffsetField(),
}));

/** The fields of a publication that are read from the text. */
export const publicationTexts = ["data", "version"] as const;

/** How the requests of `publish` are read. */
export const publishMethods = {
  publish: { shape: publishShape, entry: publishEntry, texts: publicationTexts },
} as const;

/**
 * Parses a `broadcast` request (docs/protocol.md 6.2). A fault of the publication or of the list refuses the whole
 * request, and so does a key that doesn't admit the method; a fault of one channel refuses only that channel's entry.
 */
export function parseBroadcast(params: string, caller: ApiCaller): ParsedCommand {
  const parsed = parseShape(broadcastShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const version = parseVersion(params);
  if (typeof version === "object") return version;
  const { channels } = parsed.value;
  const known = fieldsOf({ shape: broadcastShape, texts: publicationTexts });
  caller.noteUnknown?.("broadcast", unknownFields(params, known));
  const refused = checkMethod({ method: "broadcast", caller }) ?? refusedList(channels, params);
  if (refused !== undefined) {
    const detail = detailOfMissing(refused.detail, params, known);
    return singleCommand("broadcast", { ...refused, detail });
  }
  const someTakesEmpty = () =>
    channels.some((channel) => {
      const resolved = resolveChannel(channel, caller.channels);
      return resolved.outcome === "resolved" && takesEmpty(resolved.options);
    });
  const publication = parsePublication(params, parsed.value, version, someTakesEmpty);
  if (publication.outcome === "refused") return singleCommand("broadcast", publication);
  const { request } = publication;
  const entries = channels.map((channel) => broadcastEntry(channel, request, caller));
  return { outcome: "command", command: { form: "broadcast", entries } };
}

function refusedList(channels: readonly string[], params: string) {
  // Ignored, it would make a publication that its sender wants under a condition only (rule W10).
  if ((memberText(params, "if_offset") ?? "null") !== "null") return strayField("if_offset");
  if (channels.length === 0) return refusedRequest("channels is required");
  if (channels.length > limits.requestChannelsMax) {
    return refusedRequest(`channels has more than ${limits.requestChannelsMax} entries`);
  }
  return undefined;
}

function broadcastEntry(channel: string, request: PublicationRequest, caller: ApiCaller): Entry {
  const checked = checkChannel(channel, { method: "broadcast", caller });
  if (checked.outcome === "refused") return refusedFor(channel, checked);
  return publishCall(channel, request, checked.options, caller);
}

/** A `broadcast` request, likewise. */
export const broadcastShape = shape(() => ({ channels: textListField(), ...publicationFields() }));

/** The fields that publish and broadcast share, except `data` and `version`, which are read from the text. */
export const publicationFields = () => ({
  b64data: textField(),
  skip_history: flagField(),
  tags: objectField(),
  idempotency_key: textField(),
  delta: flagField(),
  version_epoch: textField(),
});

interface PublicationShape {
  readonly b64data: string;
  readonly skip_history: boolean;
  readonly tags?: object | null | undefined;
  readonly idempotency_key: string;
  readonly delta: boolean;
  readonly version_epoch: string;
}

type ParsedPublication =
  | { readonly outcome: "publication"; readonly request: PublicationRequest }
  | Refused;

/**
 * Makes the publication of a publish or broadcast request; error 107 if a field is over its limit or invalid.
 *
 * @param params the request, valid JSON, from which `data` is cut byte for byte (rule W2)
 * @param version    from {@link parseVersion}
 * @param mayBeAbsent asked if the data is absent: whether that is a payload of no bytes (rule W11)
 */
export function parsePublication(
  params: string,
  fields: PublicationShape,
  version: bigint,
  mayBeAbsent: () => boolean,
): ParsedPublication {
  // Centrifugo prefers `b64data` too.
  const data =
    fields.b64data === ""
      ? (memberText(params, "data") ?? (mayBeAbsent() ? emptyPayload : undefined))
      : parseBase64Payload(fields.b64data);
  if (data === undefined) {
    return refusedRequest(
      fields.b64data === "" ? "data is required" : "b64data is not valid base64",
    );
  }
  if (payloadLength(data) > limits.publicationBytesMax) {
    return overLimit("data", limits.publicationBytesMax);
  }
  const tags = fields.tags ?? {};
  if (!areTags(tags)) return refusedRequest("all values of tags must be strings");
  if (!utf8Fits(JSON.stringify(tags), limits.tagsBytesMax)) {
    return overLimit("tags", limits.tagsBytesMax);
  }
  const refused = refusedIdempotencyKey(fields.idempotency_key);
  if (refused !== undefined) return refused;
  if (!utf8Fits(fields.version_epoch, limits.versionEpochBytesMax)) {
    return overLimit("version_epoch", limits.versionEpochBytesMax);
  }
  const request: PublicationRequest = {
    data,
    ...(Object.keys(tags).length > 0 && { tags }),
    skipHistory: fields.skip_history,
    idempotencyKey: fields.idempotency_key,
    version,
    versionEpoch: fields.version_epoch,
    delta: fields.delta,
  };
  return { outcome: "publication", request };
}

/** Whether the namespace takes a payload of no bytes. */
export function takesEmpty(options: ChannelOptions): boolean {
  return acceptsData(options, emptyPayload);
}

/** Reads `version`; 0n if it is absent. */
export function parseVersion(params: string): bigint | Malformed {
  const detail = "the field version must be an unsigned 64 bit integer";
  return memberUint64(params, "version") ?? { outcome: "malformed", detail };
}

/**
 * The call that publishes to one channel, or a refusal if the namespace doesn't accept such data (docs/protocol.md
 * 5.6).
 */
function publishCall(
  channel: string,
  request: PublicationRequest,
  options: ChannelOptions,
  { key }: ApiCaller,
): Entry {
  if (options.subscriptionType !== "stream")
    return refusedRequest(
      "the channel's namespace is not one of streams: use map_publish or shared_poll_publish",
    );
  return acceptsData(options, request.data)
    ? { outcome: "call", channel, command: { method: "publish", request, key: key.name } }
    : refusedRequest(formatProblem(options));
}

/** Bytes in base64 as a payload; undefined if the text isn't base64. */
export function parseBase64Payload(encoded: string): Payload | undefined {
  const bytes = parseBase64(encoded);
  return bytes === undefined ? undefined : payloadOf(bytes);
}

/** Why data isn't accepted, in words for an error. */
export function formatProblem({ publicationDataFormat }: ChannelOptions): string {
  return publicationDataFormat === ""
    ? "data is required"
    : `data must be ${publicationDataFormat === "json" ? "JSON" : "a JSON object"} in the channel's namespace`;
}
