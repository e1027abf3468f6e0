import { operationBytes, type ClientOperation, type OperationReply } from "./channel-call.ts";
import type { CarriedReport } from "./metrics-report.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import type { KeyChange, KnownVersion } from "../features/shared-polls/poll-batch.ts";
import { type RelayEntry, entryBytes } from "./relay-batch.ts";

/**
 * A request of a gateway to a channel's object, for its clients. The replies come in the order of the requests. During
 * a deploy the two sides may be one release apart (rule V1): fields are only added, and the absence of an added field
 * has a meaning.
 */
export type RelayRequest =
  | ClientOperation
  /** Registers the gateway: it is sent every entry after the `sequence` of the reply. */
  | { readonly method: "follow" }
  /**
   * Reads all publications after a position, if they can be read and are no more than a client may recover. `whole`:
   * the gateway itself has missed them and needs all of them, however many they are. Then the reply holds the oldest
   * ones, at least one, and the gateway requests the next ones from there on, until it has reached the reply's
   * position.
   */
  | { readonly method: "recover"; readonly since: StreamPosition; readonly whole?: boolean }
  /** Reads the newest publication, if it can be read, for recovery in cache mode. */
  | { readonly method: "newest" }
  /** Passes on joins, leaves and exclusive connections of the gateway's clients. */
  | { readonly method: "announce"; readonly entries: readonly RelayEntry[] }
  /** The gateway has no subscriber any more: the channel's object is to ask it whether that is still so (rule E10). */
  | { readonly method: "check" }
  /**
   * Tracks keys of a shared poll for a client, which has these versions: the gateway is called with their changes. Without
   * keys, only the epoch is asked for. `number` grows from one request of the gateway to the next; absent: none is late.
   */
  | { readonly method: "track"; readonly known: readonly KnownVersion[]; readonly number?: number }
  /**
   * Nobody at the gateway tracks these keys any more. With a `number` below that of a `track` that was carried out, the
   * request is late, and does nothing: the gateway may track the keys again.
   */
  | { readonly method: "untrack"; readonly keys: readonly string[]; readonly number?: number };

/** The reply to one request. */
export type RelayReply =
  /** To what a client asks; to any other request only the failure. */
  | OperationReply
  | {
      readonly outcome: "following";
      /** The top; absent on a channel without history. */
      readonly position?: StreamPosition;
      /** The number of the last entry before the gateway was registered: see `RelayBatch`. */
      readonly instance: number;
      readonly sequence: number;
    }
  /** The publications that were requested, oldest first. `position` is the top. */
  | {
      readonly outcome: "recovered";
      readonly publications: readonly Publication[];
      readonly position: StreamPosition;
    }
  /** The publications can't be read. `position` is the top. */
  | { readonly outcome: "unrecoverable"; readonly position: StreamPosition }
  | { readonly outcome: "announced" }
  | { readonly outcome: "checking" }
  /** `newer`: those of the keys of which the client has an older version, as far as the channel's object has them. */
  | {
      readonly outcome: "tracking";
      readonly epoch: string;
      /** When the channel's instance began, ms since 1970: see `PollBatch`. */
      readonly instance: number;
      readonly newer: readonly KeyChange[];
    }
  | { readonly outcome: "untracked" };

/** The reply to one call: a reply for each request, in order. overloaded: no request was carried out. */
export type RelayReplies =
  | {
      readonly outcome: "answers";
      readonly answers: readonly RelayReply[];
      /** The object's counts, for a caller that reports them (rule J7). Absent: the object reports them itself. */
      readonly counted?: CarriedReport;
    }
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number };

/** The clients of a gateway that are present on a channel. */
export interface GatewayPresence {
  readonly clients: readonly ClientInfo[];
}

/** The clients that are present on a channel, on its own object and on all gateways (rule G6). */
export type ChannelPresenceReply =
  | {
      readonly outcome: "present";
      readonly clients: readonly ClientInfo[];
      /** Whether every gateway answered in time. */
      readonly complete: boolean;
    }
  | { readonly outcome: "error"; readonly error: ErrorCode };

/** The bytes that a request takes in memory, estimated. */
export function relayRequestBytes(request: RelayRequest): number {
  if ("request" in request) {
    const { info } = "info" in request ? request : {};
    return operationBytes(request) + (info === undefined ? 0 : entryBytes({ type: "join", info }));
  }
  switch (request.method) {
    case "announce":
      return request.entries.reduce((sum, entry) => sum + entryBytes(entry), plainBytes);
    case "track":
      return request.known.reduce((sum, { key }) => sum + key.length + keyBytes, plainBytes);
    case "untrack":
      return request.keys.reduce((sum, key) => sum + key.length + keyBytes, plainBytes);
    case "follow":
    case "recover":
    case "newest":
    case "check":
      return plainBytes;
  }
}

const plainBytes = 256;

/** A key in a list, beside its characters. */
const keyBytes = 32;
