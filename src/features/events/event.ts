import type { EventsConfig, EventType } from "./config.ts";
import type { AcceptedEntry } from "../../channel/channel-part.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import { base64, type Payload, payloadLength, payloadText } from "../../protocol/payload.ts";
import type { ClientInfo, StreamPosition, Tags } from "../../protocol/publication.ts";

/** An event of an object, as a backend gets it. Fields that don't apply are absent. */
export interface ObjectEvent {
  readonly type: EventType;
  readonly channel?: string;
  readonly user?: string;
  readonly client?: string;
  readonly transport?: string;
  /** Why a connection or a subscription ended. */
  readonly code?: number;
  readonly reason?: string;
  readonly offset?: number;
  readonly epoch?: string;
  /** The key of a map that a publication changes. */
  readonly key?: string;
  /** The key was removed; then there is no `data`. */
  readonly removed?: true;
  readonly data?: Payload;
  readonly tags?: Tags;
  /** The `info` of the client's connection token. */
  readonly info?: JsonText;
  /** The `info` of the client's subscription token. */
  readonly chanInfo?: JsonText;
  /** The trace that it belongs to (rule X1). */
  readonly traceparent?: string;
  /** The first and the last publication of those that a user hasn't seen, or has seen now, and how many count. */
  readonly from?: number;
  readonly to?: number;
  readonly count?: number;
  /** When the first of them came, ms since 1970. */
  readonly sinceMs?: number;
  /** When the object got the publication, ms since 1970 (rule E12). */
  readonly publishedAtMs?: number;
}

/**
 * The fields of an event as they are stored, without the braces: what every event of the object has is added when it is
 * sent.
 *
 * @param dataBytesMax the most bytes of `data` that the receiver can take; data beyond it is left out
 */
export function encodeEvent(event: ObjectEvent, dataBytesMax: number): string {
  const { data, tags, info, chanInfo, publishedAtMs, sinceMs, type, ...plain } = event;
  let json = `"type":"${type}"`;
  for (const [name, value] of Object.entries(plain)) json += `,"${name}":${JSON.stringify(value)}`;
  if (sinceMs !== undefined) json += `,"since_ms":${sinceMs}`;
  if (publishedAtMs !== undefined) json += `,"published_at":${publishedAtMs}`;
  if (tags !== undefined) json += `,"tags":${JSON.stringify(tags)}`;
  if (info !== undefined) json += `,"info":${info}`;
  if (chanInfo !== undefined) json += `,"chan_info":${chanInfo}`;
  return data === undefined ? json : `${json},${dataField(data, dataBytesMax)}`;
}

/** JSON stays as its publisher wrote it; other bytes are in base64. */
function dataField(data: Payload, bytesMax: number): string {
  const fits =
    typeof data === "string" ? utf8Fits(data, bytesMax) : payloadLength(data) <= bytesMax;
  if (!fits) return `"data_bytes":${payloadLength(data)}`;
  const text = payloadText(data);
  return text === undefined ? `"b64data":"${base64(data)}"` : `"data":${text}`;
}

/**
 * Whether events of a type are reported to a backend.
 *
 * @param events    undefined if no backend gets events
 * @param namespace the namespace of the events' channel; "" for a channel without one, absent for events without a
 *                  channel
 */
export function isReported(
  events: EventsConfig | undefined,
  type: EventType,
  namespace?: string,
): boolean {
  if (events === undefined || !events.types.has(type)) return false;
  return namespace === undefined || events.namespaces?.has(namespace) !== false;
}

/** The event of a publication that a channel has accepted. */
export function publicationEvent(
  channel: string,
  { data, tags, info, traceparent, key, removed }: AcceptedEntry,
  position: StreamPosition | undefined,
): ObjectEvent {
  return {
    type: "publication",
    channel,
    ...(info === undefined ? {} : clientFields(info)),
    ...(position === undefined ? {} : { offset: position.offset, epoch: position.epoch }),
    ...(key === undefined ? {} : { key }),
    ...(removed === true ? { removed } : { data }),
    ...(tags === undefined ? {} : { tags }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The client that an event is about. */
function clientFields({
  user,
  client,
  connInfo,
  chanInfo,
}: ClientInfo): Pick<ObjectEvent, "user" | "client" | "info" | "chanInfo"> {
  return {
    user,
    client,
    ...(connInfo === undefined ? {} : { info: connInfo }),
    ...(chanInfo === undefined ? {} : { chanInfo }),
  };
}
