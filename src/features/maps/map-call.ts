import type { ChannelOperation, Changing, OperationReply } from "../../contract/channel-call.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import type { Payload } from "../../protocol/payload.ts";
import type { ClientInfo, Publication, StreamPosition, Tags } from "../../protocol/publication.ts";

declare module "../../contract/channel-call.ts" {
  interface ChannelOperations {
    readonly map_publish: Changing<MapPublishRequest>;
    readonly map_remove: Changing<MapRemoveRequest>;
    readonly map_append: Appending;
    readonly map_read_state: Reading<MapStateQuery>;
    /** Reads the stream of a map. */
    readonly map_read_stream: Reading<HistoryQuery>;
    /** Reads a page of a map's state for a client (rule Z3). */
    readonly map_state: Reading<MapPageQuery>;
    /** Reads the oldest changes of a map after a position for a client; none if that is the top. */
    readonly map_stream: Reading<MapChangesQuery>;
    readonly map_stats: object;
    readonly map_clear: object;
  }
  interface OperationReplies {
    readonly page: {
      /** In the order of their keys. */
      readonly publications: readonly Publication[];
      /** Of the next page; "" if this is the last one. */
      readonly cursor: string;
      /** The top when the page was read. */
      readonly position: StreamPosition;
    };
  }
}

/** Appends a text to the value of a key (rule Z38). */
interface Appending extends Changing<MapAppendRequest> {
  /** Whether a client called it as a method, which gets the result. Absent: it didn't. */
  readonly asMethod?: true;
}

/** An operation on a map (docs/protocol.md 3.4). */
export type MapOperation = Extract<ChannelOperation, { readonly method: `map_${string}` }>;

/** A change of one key. */
export type MapChange = Extract<MapOperation, { readonly method: "map_publish" | "map_remove" }>;

/** Sets the value of a key. */
export interface MapPublishRequest {
  /** Not empty. */
  readonly key: string;
  /** The value, which clients that synchronise get. */
  readonly data: Payload;
  /** The data that subscribers get in place of `data`; absent: `data`. */
  readonly streamData?: Payload;
  readonly tags?: Tags;
  /** A safe integer, which is stored and returned; absent: 0. */
  readonly score?: number;
  /** if_new: only if the map hasn't the key. if_exists: only if it has. */
  readonly keyMode: "" | "if_new" | "if_exists";
  /** "" for none. */
  readonly idempotencyKey: string;
  /** The version of the key's value (rule Z8); 0n for none. The full range of a uint64. */
  readonly version: bigint;
  readonly versionEpoch: string;
  /** Whether delta subscribers may get the change as a delta. */
  readonly delta: boolean;
  /**
   * The change is made only if this is the offset of the key's last change; 0: only if the map hasn't the key (rule
   * Z9). Absent: whatever is there.
   */
  readonly ifOffset?: number;
  /** The trace that the change belongs to (rule X1), see `traceparent.ts`; absent without one. */
  readonly traceparent?: string;
}

/** Removes a key. */
export interface MapRemoveRequest {
  /** Not empty. */
  readonly key: string;
  /** Of the removal, for those who filter; absent: those of the value that is removed. */
  readonly tags?: Tags;
  /** "" for none. */
  readonly idempotencyKey: string;
  /** As in {@link MapPublishRequest}. */
  readonly ifOffset?: number;
  readonly traceparent?: string;
}

/** Appends a text to the value of a key. */
export interface MapAppendRequest {
  /** Not empty. */
  readonly key: string;
  /** Well-formed Unicode. */
  readonly text: string;
  /** The length that the text has to have before, in UTF-16 units; absent: whatever it has. */
  readonly at?: number;
  /** The member of the value that grows; absent: the value itself is the text. */
  readonly field?: string;
  /** Whether this is the end of the text. */
  readonly final: boolean;
  /** "" for none. */
  readonly idempotencyKey: string;
  readonly traceparent?: string;
}

/** A change that does nothing but set a value, as one of a client whose backend isn't asked. */
export function plainMapPublish(key: string, data: Payload): MapPublishRequest {
  return {
    key,
    data,
    keyMode: "",
    idempotencyKey: "",
    version: 0n,
    versionEpoch: "",
    delta: false,
  };
}

/** The removal of the key that is a client's ID, at the end of its subscription (rule Z20). */
export function removalOf({ client }: ClientInfo): MapChange {
  return { method: "map_remove", request: { key: client, idempotencyKey: "" } };
}

/** Which entries of the state a backend reads. */
export interface MapStateQuery {
  /** The only key to read; "" for all of them. */
  readonly key: string;
  /** The cursor of the page before; "" for the first page. */
  readonly cursor: string;
  /** 0: only the position. -1: all entries. Above 0: at most so many entries. */
  readonly limit: number;
  /** Accepted and without effect: the entries of all modes are in the order of their keys. */
  readonly asc: boolean;
  /** The position of the first page, whose later pages leave out what was changed since; absent: the position now. */
  readonly revision?: StreamPosition;
}

/** Which page of the state a client's subscribe reads (rule Z3). */
export interface MapPageQuery {
  /** The cursor of the page before; "" for the first page. */
  readonly cursor: string;
  /** At most so many entries, and at least 1. */
  readonly limit: number;
  /**
   * The position of the first page: entries that were changed since are left out, because the client gets those changes
   * from the stream. Absent on the first page.
   */
  readonly since?: StreamPosition;
}

/** Which changes a client reads. */
interface MapChangesQuery {
  readonly since: StreamPosition;
  /** The most changes, at least 1. */
  readonly limit: number;
}

/** A page of a map's state. */
export type MapPageReply = Extract<OperationReply, { readonly outcome: "page" }>;

/** Why a change did nothing, in the order in which that is looked at (rule Z7). The texts are the API's. */
export type MapSuppression =
  | "idempotency"
  | "version"
  | "key_exists"
  | "key_not_found"
  | "position_mismatch";

/** Why nothing was appended. The texts are the API's. */
export type AppendSuppression = "idempotency" | "length_mismatch" | "final" | "not_text";

/**
 * Whether a text can be a key of a map or of a shared poll. A lone surrogate is replaced when it is stored or hashed,
 * which would make one key of two.
 */
export function isKey(text: string): boolean {
  return text !== "" && utf8Fits(text, limits.mapKeyBytesMax) && text.isWellFormed();
}
