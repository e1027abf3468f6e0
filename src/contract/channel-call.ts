import { publishes } from "../access/operations.ts";
import type { CarriedReport } from "./metrics-report.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { Payload } from "../protocol/payload.ts";
import {
  isMapCommand,
  type MapChange,
  type MapCommand,
  mapCommandBytes,
  type MapPageQuery,
} from "./map-call.ts";
import { type PollCommand, pollCommandBytes } from "./poll-call.ts";
import type { ClientInfo, Publication, StreamPosition, Tags } from "../protocol/publication.ts";

/**
 * A command of the edge to a channel's object: the only RPC between them, with {@link ChannelAnswers} as reply. During
 * a deploy the two sides may be one release apart (rule V1): fields are only added, and the absence of an added field
 * has a meaning.
 */
export type ChannelCommand =
  | {
      readonly method: "publish";
      readonly request: PublicationRequest;
      /** The name of the backend's API key, for those who ask (rule Y1). Absent: it isn't known. */
      readonly key?: string;
    }
  | { readonly method: "history"; readonly request: HistoryQuery }
  | { readonly method: "history_remove" }
  | { readonly method: "presence" }
  | { readonly method: "presence_stats" }
  | MapCommand
  | PollCommand;

/** A publish of a backend. */
export interface PublicationRequest {
  readonly data: Payload;
  readonly tags?: Tags;
  /** Whether the publication gets no offset and no row, and is only delivered. */
  readonly skipHistory: boolean;
  /** "" for none. */
  readonly idempotencyKey: string;
  /** The version of the publication (rule H9); 0n for none. The full range of a uint64, which a number doesn't have. */
  readonly version: bigint;
  readonly versionEpoch: string;
  /** Whether delta subscribers may get the publication as a delta (docs/protocol.md 3.1). */
  readonly delta: boolean;
  /**
   * The publication is made only if this is the offset of the top (rule Z13); absent: whatever the top is. 0: only as
   * the first one.
   */
  readonly ifOffset?: number;
  /** The trace that the publish belongs to (rule X1), see `traceparent.ts`; absent without one. */
  readonly traceparent?: string;
}

/** Which publications of the history are read (rule H2). */
export interface HistoryQuery {
  /** 0: only the position. -1: all publications. Above 0: at most so many publications. */
  readonly limit: number;
  /** Exclusive in both directions. */
  readonly since?: StreamPosition;
  readonly reverse: boolean;
}

/** The answer to one command: the API's `result` object, as it is on the wire, or an error. */
export type ChannelAnswer = { readonly result: JsonText } | { readonly error: ErrorCode };

/** The answer to one call: an answer for each command, in order. overloaded: no command was carried out. */
export type ChannelAnswers =
  | {
      readonly outcome: "answers";
      readonly answers: readonly ChannelAnswer[];
      /** The object's counts, for a caller that reports them (rule J7). Absent: the object reports them itself. */
      readonly counted?: CarriedReport;
    }
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/**
 * The bytes that a command takes in memory until it is answered, estimated: one byte per character of the sender's
 * texts, and a constant for the rest.
 */
export function commandBytes(command: ChannelCommand): number {
  if (command.method === "shared_poll_publish") return overheadBytes + pollCommandBytes(command);
  if (command.method !== "publish") {
    return isMapCommand(command) ? overheadBytes + mapCommandBytes(command) : overheadBytes;
  }
  const { data, tags = {}, idempotencyKey, versionEpoch } = command.request;
  return Object.entries(tags).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    overheadBytes + data.length + idempotencyKey.length + versionEpoch.length,
  );
}

/** The JavaScript objects of a command. Without this constant, 10,000 empty publications would count as nothing. */
const overheadBytes = 256;

/** A command that makes a publication, which has an idempotency key and may belong to a trace. */
export type PublishingCommand = Extract<
  ChannelCommand,
  { readonly request: { readonly idempotencyKey: string } }
>;

/** Whether a command makes a publication. */
export function isPublishing(command: ChannelCommand): command is PublishingCommand {
  return publishes(command);
}

/** The trace of a call: all of its commands are of one request. Undefined if it belongs to none. */
export function traceOf(commands: readonly ChannelCommand[]): string | undefined {
  return commands.find(isPublishing)?.request.traceparent;
}

/**
 * What a client asks of a channel. Its session or its gateway has checked the client's permission, the key and the data.
 * A session in the channel's own object has it carried out at once; a gateway sends it as a relay request.
 */
export type ChannelOperation =
  | { readonly method: "publish"; readonly request: PublicationRequest; readonly info: ClientInfo }
  | (MapChange & { readonly info: ClientInfo })
  | ReadingOperation<"history", HistoryQuery>
  /** Reads a page of a map's state (rule Z3). */
  | ReadingOperation<"map_state", MapPageQuery>
  /** Reads the oldest changes of a map after a position; none if that is the top. */
  | ReadingOperation<"map_stream", MapChangesQuery>;

interface ReadingOperation<Method extends string, Query> {
  readonly method: Method;
  readonly request: Query;
  /** How large the publications of the reply may be together, before they are encoded. */
  readonly bytesMax: number;
}

/** Which changes of a map are read. */
interface MapChangesQuery {
  readonly since: StreamPosition;
  /** The most changes, at least 1. */
  readonly limit: number;
}

/** The reply to an operation: `history` to one that reads the history or a map's stream, `page` to one that reads a state. */
export type OperationReply =
  /**
   * The publication is entry `sequence` of `instance`, which a gateway gets if it is registered. If nothing was to be
   * done, no entry after `sequence` comes of the operation.
   */
  | { readonly outcome: "published"; readonly instance: number; readonly sequence: number }
  /** `position` is the top. */
  | {
      readonly outcome: "history";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  | MapPageReply
  | FailedReply;

/** A page of a map's state. */
export interface MapPageReply {
  readonly outcome: "page";
  /** In the order of their keys. */
  readonly publications: readonly Publication[];
  /** Of the next page; "" if this is the last one. */
  readonly cursor: string;
  /** The top when the page was read. */
  readonly position: StreamPosition;
}

/** The channel's object refused, or couldn't be reached. */
export interface FailedReply {
  readonly outcome: "failed";
  readonly error: ErrorCode;
}

/** The error of a reply that isn't the one that was asked for. */
export function errorOf(reply: {
  readonly outcome: string;
  readonly error?: ErrorCode;
}): ErrorCode {
  return reply.error ?? errorCodes.internal;
}
