import type { Operation } from "../../access/operations.ts";
import { acceptsData } from "../../channel/publication-request.ts";
import type { ChannelOptions } from "../../config/config.ts";
import type { MapOptions } from "./config.ts";
import type { MapOperation, MapPublishRequest } from "./map-call.ts";
import { appendFields, parseAppend } from "./growth/append-request.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { memberText } from "../../protocol/json/text.ts";
import { payloadLength, type Payload } from "../../protocol/payload.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import {
  type Call,
  type ParsedEntry,
  overLimit,
  type Refused,
  refusedFeature,
  refusedIdempotencyKey,
  refusedRequest,
  refusedKey,
  refusedKeyText,
} from "../../api/command.ts";
import {
  formatProblem,
  parseBase64Payload,
  parsePublication,
  parseVersion,
  publicationTexts,
  takesEmpty,
} from "../../api/publish.ts";
import { channelShape, refusedLimit, refusedQuery } from "../../api/read.ts";
import {
  asks,
  checkChannel,
  flagField,
  int32Field,
  objectField,
  objectOf,
  offsetField,
  optionalOffsetField,
  type ApiMethod,
  type MethodRequest,
  safeIntegerField,
  type Shaped,
  shapes,
  strayField,
  textField,
} from "../../api/shape.ts";

function publishEntry(fields: Shaped<typeof mapPublishShape>, asked: MethodRequest): ParsedEntry {
  const { params, caller } = asked;
  const version = parseVersion(params);
  if (typeof version === "object") return version;
  const checked = checkMap(fields.channel, asked);
  if (checked.outcome === "refused") return checked;
  const refused = refusedKey(fields.key);
  if (refused !== undefined) return refused;
  const bare = { ...fields, skip_history: false };
  const value = parsePublication(params, bare, version, () => takesEmpty(checked.options));
  if (value.outcome === "refused") return value;
  const stream = parseStreamData(params, fields.b64stream_data);
  if (stream.outcome === "refused") return stream;
  const mode = keyModes.find((known) => known === fields.key_mode);
  if (mode === undefined) return refusedRequest('key_mode must be "", "if_new" or "if_exists"');
  const { data, tags, idempotencyKey, versionEpoch, delta } = value.request;
  const request: MapPublishRequest = {
    key: fields.key,
    data,
    ...(stream.data !== undefined && { streamData: stream.data }),
    ...(tags !== undefined && { tags }),
    ...(fields.score !== 0 && { score: fields.score }),
    keyMode: mode,
    idempotencyKey,
    version,
    versionEpoch,
    delta,
    ...ifOffsetOf(fields),
  };
  const accepted = [data, stream.data ?? data].every((each) => acceptsData(checked.options, each));
  if (!accepted) return refusedRequest(formatProblem(checked.options));
  return mapCall(fields.channel, { method: "map_publish", request, key: caller.key.name });
}

const keyModes = ["", "if_new", "if_exists"] as const;

type StreamData = { readonly outcome: "data"; readonly data?: Payload } | Refused;

/** Cuts what subscribers get in place of the value from a request; none if they get the value. */
function parseStreamData(params: string, encoded: string): StreamData {
  const data = encoded === "" ? memberText(params, "stream_data") : parseBase64Payload(encoded);
  if (data === undefined) {
    return encoded === ""
      ? { outcome: "data" }
      : refusedRequest("b64stream_data is not valid base64");
  }
  return payloadLength(data) > limits.publicationBytesMax
    ? overLimit("stream_data", limits.publicationBytesMax)
    : { outcome: "data", data };
}

function removeEntry(fields: Shaped<typeof mapRemoveShape>, asked: MethodRequest): ParsedEntry {
  const { channel, key, idempotency_key: idempotencyKey } = fields;
  const checked = checkMap(channel, asked);
  if (checked.outcome === "refused") return checked;
  const refused = refusedKey(key) ?? refusedIdempotencyKey(idempotencyKey);
  if (refused !== undefined) return refused;
  const request = { key, idempotencyKey, ...ifOffsetOf(fields) };
  return mapCall(channel, { method: "map_remove", request, key: asked.caller.key.name });
}

function appendEntry(fields: Shaped<typeof mapAppendShape>, asked: MethodRequest): ParsedEntry {
  const { channel, ...given } = fields;
  const checked = checkMap(channel, asked);
  if (checked.outcome === "refused") return checked;
  const append = parseAppend(given, checked.options);
  if (append.outcome === "refused") return append;
  const { request } = append;
  return mapCall(channel, { method: "map_append", request, key: asked.caller.key.name });
}

/** The condition of a change; none if there is no condition. 0 is one: nothing is there yet. */
function ifOffsetOf(fields: { readonly if_offset?: number | null | undefined }): {
  readonly ifOffset?: number;
} {
  const { if_offset: ifOffset } = fields;
  return typeof ifOffset === "number" ? { ifOffset } : {};
}

function readStateEntry(
  fields: Shaped<typeof mapReadStateShape>,
  asked: MethodRequest,
): ParsedEntry {
  const { channel, cursor, limit, key, asc, revision_offset, revision_epoch } = fields;
  const checked = checkMap(channel, asked);
  if (checked.outcome === "refused") return checked;
  const refused = refusedKeyText(key) ?? refusedLimit(limit);
  if (refused !== undefined) return refused;
  if (!utf8Fits(cursor, limits.mapCursorBytesMax))
    return overLimit("cursor", limits.mapCursorBytesMax);
  const revision = positionOf(revision_offset, revision_epoch);
  const request = { key, cursor, limit, asc, ...(revision && { revision }) };
  return mapCall(channel, { method: "map_read_state", request });
}

function readStreamEntry(
  fields: Shaped<typeof mapReadStreamShape>,
  asked: MethodRequest,
): ParsedEntry {
  const { channel, since_offset, since_epoch, limit, reverse } = fields;
  const checked = checkMap(channel, asked);
  if (checked.outcome === "refused") return checked;
  if (checked.map.mode === "ephemeral")
    return refusedFeature("the channel is an ephemeral map, which keeps no stream");
  const since = positionOf(since_offset, since_epoch);
  const request = { limit, reverse, ...(since && { since }) };
  const refused = refusedQuery(request, "since_offset");
  if (refused !== undefined) return refused;
  return mapCall(channel, { method: "map_read_stream", request });
}

/** The position that two fields name; undefined if neither is set. */
function positionOf(offset: number, epoch: string): StreamPosition | undefined {
  return offset === 0 && epoch === "" ? undefined : { offset, epoch };
}

/** The entry of a method whose only parameter is a channel. */
function mapEntry(
  method: "map_stats" | "map_clear",
  { channel }: Shaped<typeof channelShape>,
  asked: MethodRequest,
): ParsedEntry {
  const checked = checkMap(channel, asked);
  if (checked.outcome === "refused") return checked;
  if (method === "map_clear" && asks(asked.params, "key")) return strayField("key");
  return mapCall(channel, { method });
}

/** The requests that have more than a channel. */
const requestShapes = shapes(() => ({
  publish: objectOf({
    channel: textField(),
    key: textField(),
    b64data: textField(),
    b64stream_data: textField(),
    tags: objectField(),
    idempotency_key: textField(),
    delta: flagField(),
    version_epoch: textField(),
    key_mode: textField(),
    score: safeIntegerField(),
    if_offset: optionalOffsetField(),
  }),
  remove: objectOf({
    channel: textField(),
    key: textField(),
    idempotency_key: textField(),
    if_offset: optionalOffsetField(),
  }),
  append: objectOf({ channel: textField(), ...appendFields() }),
  readState: objectOf({
    channel: textField(),
    cursor: textField(),
    limit: int32Field(),
    key: textField(),
    asc: flagField(),
    revision_offset: offsetField(),
    revision_epoch: textField(),
  }),
  readStream: objectOf({
    channel: textField(),
    since_offset: offsetField(),
    since_epoch: textField(),
    limit: int32Field(),
    reverse: flagField(),
  }),
}));

/** A `map_publish` request, without `data`, `stream_data` and `version`, which are read from the text. */
const mapPublishShape = () => requestShapes().publish;

/** A `map_remove` request. */
const mapRemoveShape = () => requestShapes().remove;

/** A `map_append` request. */
const mapAppendShape = () => requestShapes().append;

/** A `map_read_state` request. */
const mapReadStateShape = () => requestShapes().readState;

/** A `map_read_stream` request. */
const mapReadStreamShape = () => requestShapes().readStream;

type CheckedMap =
  | { readonly outcome: "map"; readonly options: ChannelOptions; readonly map: MapOptions }
  | Refused;

/** Finds the options of a map, as {@link checkChannel} does; error 107 if the channel is none. */
function checkMap(channel: string, asked: MethodRequest): CheckedMap {
  const checked = checkChannel(channel, asked);
  if (checked.outcome === "refused") return checked;
  const { options } = checked;
  if (options.map === undefined)
    return refusedRequest("the channel's namespace is not one of maps");
  if (options.subscriptionType !== "map" && asked.operation.changes === true)
    return refusedRequest("the channel is a presence map, which nobody changes");
  return { outcome: "map", options, map: options.map };
}

function mapCall(channel: string, command: MapOperation): Call {
  return { outcome: "call", channel, command };
}

/** The rows of these methods. */
export const mapOperations = {
  map_publish: { at: "channel", changes: true },
  map_remove: { at: "channel", changes: true },
  map_append: { at: "channel", changes: true },
  map_read_state: { at: "channel", readsMuch: true },
  map_read_stream: { at: "channel", readsMuch: true },
  map_stats: { at: "channel" },
  map_clear: { at: "channel", changes: true },
} as const satisfies Readonly<Record<string, Operation>>;

type MapOperations = typeof mapOperations;

declare module "../../access/operations.ts" {
  interface Operations extends MapOperations {}
}

/** The methods for maps (docs/protocol.md 3.4 and 6.2). */
export const mapMethods = {
  map_publish: {
    shape: mapPublishShape,
    entry: publishEntry,
    texts: [...publicationTexts, "stream_data"],
  },
  map_remove: { shape: mapRemoveShape, entry: removeEntry },
  map_append: { shape: mapAppendShape, entry: appendEntry },
  map_read_state: { shape: mapReadStateShape, entry: readStateEntry },
  map_read_stream: { shape: mapReadStreamShape, entry: readStreamEntry },
  map_stats: {
    shape: channelShape,
    entry: (fields, request) => mapEntry("map_stats", fields, request),
  } satisfies ApiMethod<typeof channelShape>,
  map_clear: {
    shape: channelShape,
    entry: (fields, request) => mapEntry("map_clear", fields, request),
  } satisfies ApiMethod<typeof channelShape>,
} as const;
