import { operationOf } from "../access/operations.ts";
import type { CarriedReport } from "./metrics-report.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { Payload } from "../protocol/payload.ts";
import { isMapCommand, type MapCommand, mapCommandBytes } from "./map-call.ts";
import { type PollCommand, pollCommandBytes } from "./poll-call.ts";
import type { StreamPosition, Tags } from "../protocol/publication.ts";

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
   * the first one. A release before it publishes whatever the top is.
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
  return operationOf(command.method).publishes === true;
}

/** The trace of a call: all of its commands are of one request. Undefined if it belongs to none. */
export function traceOf(commands: readonly ChannelCommand[]): string | undefined {
  return commands.find(isPublishing)?.request.traceparent;
}
