import type { ErrorCode } from "../protocol/codes.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { Payload } from "../protocol/payload.ts";
import type { StreamPosition, Tags } from "../protocol/publication.ts";

/**
 * What the edge asks of a channel's object, and what comes back: the one RPC between them. During a deploy the two
 * sides may be one release apart (rule V1), so fields are only ever added, and an added field has a meaning of absence.
 */
export type ChannelCommand =
  | { readonly method: "publish"; readonly request: PublicationRequest }
  | { readonly method: "history"; readonly request: HistoryQuery }
  | { readonly method: "history_remove" }
  | { readonly method: "presence" }
  | { readonly method: "presence_stats" };

export interface PublicationRequest {
  readonly data: Payload;
  readonly tags?: Tags;
  /** Deliver without keeping: no offset, no row. */
  readonly skipHistory: boolean;
  /** "" for none. */
  readonly idempotencyKey: string;
  /** The document version this publication brings; 0n for none. Full uint64 range, so never a number. */
  readonly version: bigint;
  readonly versionEpoch: string;
  /** Subscribers who asked for patches may get one (docs/protocol.md 3.1). */
  readonly delta: boolean;
}

export interface HistoryQuery {
  /** 0: only the position. -1: everything there is. Above 0: at most so many publications. */
  readonly limit: number;
  readonly since?: StreamPosition;
  readonly reverse: boolean;
}

/** The answer to one command: the API's `result` object, already as it goes on the wire, or an error. */
export type ChannelAnswer = { readonly result: JsonText } | { readonly error: ErrorCode };

/** The answer to one call. Overloaded: nothing of it was done. */
export type ChannelAnswers =
  | { readonly outcome: "answers"; readonly answers: readonly ChannelAnswer[] }
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/**
 * How many bytes a command holds in memory from its arrival until it is answered, roughly: what its sender chose, at a
 * byte a character, and a constant for the rest.
 */
export function commandBytes(command: ChannelCommand): number {
  if (command.method !== "publish") return overheadBytes;
  const { data, tags = {}, idempotencyKey, versionEpoch } = command.request;
  return Object.entries(tags).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    overheadBytes + data.length + idempotencyKey.length + versionEpoch.length,
  );
}

/** The objects that a command is made of. Without it, 10,000 publications of nothing would weigh nothing. */
const overheadBytes = 256;
