import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, Publication, StreamPosition, Tags } from "../protocol/publication.ts";

/**
 * An operation on a channel that a client or a backend asks for. The sender of the call has checked the permission, the
 * key and the data. The edge calls the channel's object with the operation, and gets {@link ChannelAnswers}. A session
 * in that object calls it directly, and a gateway sends a relay request; both get an {@link OperationReply}. During a
 * deploy the two sides may be one release apart (rule V1): fields are only added, and the absence of an added field has
 * a meaning.
 */
export type ChannelOperation = {
  [Method in keyof ChannelOperations]: { readonly method: Method } & ChannelOperations[Method];
}[keyof ChannelOperations];

/** The operations by their `method`. A feature adds its own in its folder. @public */
export interface ChannelOperations {
  readonly publish: Changing<PublicationRequest>;
  readonly history: Reading<HistoryQuery>;
  readonly history_remove: object;
  readonly presence: object;
  readonly presence_stats: object;
}

/** An operation that may be asked for a client: all that have parameters. */
export type ClientOperation = Extract<ChannelOperation, { readonly request: object }>;

/** A change. */
export interface Changing<Request> {
  readonly request: Request;
  /** The client that asks for it, as others are shown it. Absent: a backend asks. */
  readonly info?: ClientInfo;
  /** The name of the backend's API key, for those who ask (rule Y1). Absent: it isn't known. */
  readonly key?: string;
}

/** A read. */
export interface Reading<Query> {
  readonly request: Query;
  /** How large the publications of the reply may be together, before they are encoded. Absent: as an answer may be. */
  readonly bytesMax?: number;
}

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
  /** The UUID of a connection that doesn't get the publication; absent: all subscribers get it. */
  readonly except?: string;
  /** The trace that the publish belongs to (rule X1), see `traceparent.ts`; absent without one. */
  readonly traceparent?: string;
}

/** Which publications of the stream are read (rule H2). */
export interface HistoryQuery {
  /** 0: only the position. -1: all publications. Above 0: at most so many publications. */
  readonly limit: number;
  /** Exclusive in both directions. */
  readonly since?: StreamPosition;
  readonly reverse: boolean;
}

/** The answer to one operation of a backend: the API's `result` object, as it is on the wire, or an error. */
export type ChannelAnswer = { readonly result: JsonText } | { readonly error: ErrorCode };

/** The answer to one call: an answer for each operation, in order. overloaded: no operation was carried out. */
export type ChannelAnswers =
  | {
      readonly outcome: "answers";
      readonly answers: readonly ChannelAnswer[];
      /** The object's counts, for a caller that reports them (rule J7). Absent: the object reports them itself. */
      readonly counted?: CarriedReport;
    }
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/**
 * The bytes that an operation takes in memory until it is answered, estimated: one byte per character of the sender's
 * texts, and a constant for the rest.
 */
export function operationBytes(operation: ChannelOperation): number {
  return "request" in operation ? overheadBytes + textBytes(operation.request) : overheadBytes;
}

function textBytes(request: RequestTexts): number {
  const { data, streamData, text, key, idempotencyKey, versionEpoch, epoch, cursor } = request;
  const texts = [data, streamData, text, key, idempotencyKey, versionEpoch, epoch, cursor].concat(
    request.user,
    request.users,
  );
  const bytes = texts.reduce((sum, one) => sum + (one?.length ?? 0), 0);
  return Object.entries(request.tags ?? {}).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    bytes,
  );
}

/** The texts and payloads of a request that may be long. */
interface RequestTexts {
  readonly data?: Payload;
  readonly streamData?: Payload;
  readonly text?: string;
  readonly key?: string;
  readonly idempotencyKey?: string;
  readonly versionEpoch?: string;
  readonly epoch?: string;
  readonly cursor?: string;
  readonly user?: string;
  readonly users?: readonly string[];
  readonly tags?: Tags;
  /** Of a reading, which may have none of the others. */
  readonly limit?: number;
}

/** The JavaScript objects of an operation. Without this constant, 10,000 empty publications would count as nothing. */
const overheadBytes = 256;

/** An operation that makes a publication, which has an idempotency key and may belong to a trace. */
export type PublishingOperation = Extract<
  ChannelOperation,
  { readonly request: { readonly idempotencyKey: string } }
>;

/** Whether an operation, or a request of a gateway, makes a publication. */
export function isPublishing(asked: AskedCall): asked is PublishingOperation {
  return asked.request !== undefined && "idempotencyKey" in asked.request;
}

/** An operation or another request, with the fields that say whether it publishes. */
export interface AskedCall {
  readonly method: string;
  readonly request?: object;
}

/** The trace of a call: all of its operations are of one request. Undefined if it belongs to none. */
export function traceOf(operations: readonly ChannelOperation[]): string | undefined {
  return operations.find(isPublishing)?.request.traceparent;
}

/** The reply to an operation. */
export type OperationReply = {
  [Outcome in keyof OperationReplies]: { readonly outcome: Outcome } & OperationReplies[Outcome];
}[keyof OperationReplies];

/** The replies by their `outcome`. A feature adds those to its operations in its folder. @public */
export interface OperationReplies {
  /**
   * The publication is entry `sequence` of `instance`, which a gateway gets if it is registered. If nothing was to be
   * done, no entry after `sequence` comes of the operation.
   */
  readonly published: { readonly instance: number; readonly sequence: number };
  /** The publications that were read from the stream. `position` is the top. */
  readonly history: {
    readonly publications: readonly Publication[];
    readonly position: StreamPosition;
  };
  /** The result of an operation of a feature, for the client that called it as a method. */
  readonly answered: {
    readonly data: JsonText;
    /** The entry up to which a client is sent everything before the reply (rule O4). Absent: it waits for none. */
    readonly after?: { readonly instance: number; readonly sequence: number };
  };
  readonly failed: Omit<FailedReply, "outcome">;
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

/**
 * The counts in the answer of a channel's object, which the caller reports with its own counts (rule J7). The feature that
 * counts adds the fields in its folder. @public
 */
export interface CarriedReport {
  /** The object that has counted, see `channelNode`. */
  readonly node: string;
}
