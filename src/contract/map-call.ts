import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import type { Payload } from "../protocol/payload.ts";
import type { ClientInfo, StreamPosition, Tags } from "../protocol/publication.ts";

/**
 * A command of a backend for a map (docs/protocol.md 6.2), which the edge sends to the object of a channel whose
 * namespace is one of maps. During a deploy the two sides may be one release apart (rule V1): fields are only added,
 * and the absence of an added field has a meaning.
 */
export type MapCommand =
  | (MapChange & {
      /** The name of the backend's API key, for those who ask (rule Y1). Absent: it isn't known. */
      readonly key?: string;
    })
  | { readonly method: "map_read_state"; readonly request: MapStateQuery }
  | { readonly method: "map_read_stream"; readonly request: MapStreamQuery }
  | { readonly method: "map_stats" }
  | { readonly method: "map_clear" };

/** A change of one key. */
export type MapChange =
  | { readonly method: "map_publish"; readonly request: MapPublishRequest }
  | { readonly method: "map_remove"; readonly request: MapRemoveRequest };

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

/** Which changes of a map are read, as the history of a channel is. */
export interface MapStreamQuery {
  /** 0: only the position. -1: all changes. Above 0: at most so many changes. */
  readonly limit: number;
  /** Exclusive in both directions. */
  readonly since?: StreamPosition;
  readonly reverse: boolean;
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

/** Why a change did nothing, in the order in which that is looked at (rule Z7). The texts are the API's. */
export type MapSuppression =
  | "idempotency"
  | "version"
  | "key_exists"
  | "key_not_found"
  | "position_mismatch";

/**
 * Whether a text can be a key of a map or of a shared poll. A lone surrogate is replaced when it is stored or hashed,
 * which would make one key of two.
 */
export function isKey(text: string): boolean {
  return text !== "" && utf8Fits(text, limits.mapKeyBytesMax) && text.isWellFormed();
}

/** Whether a command is one of a map. */
export function isMapCommand(
  command: MapCommand | { readonly method: string },
): command is MapCommand {
  return command.method.startsWith("map_");
}

/** The bytes that a command takes in memory, estimated, beside a constant. */
export function mapCommandBytes(command: MapCommand): number {
  switch (command.method) {
    case "map_publish":
    case "map_remove":
      return mapChangeBytes(command);
    case "map_read_state":
      return command.request.cursor.length + command.request.key.length;
    case "map_read_stream":
    case "map_stats":
    case "map_clear":
      return 0;
  }
}

/** The bytes that a change takes in memory, estimated, beside a constant. */
function mapChangeBytes(change: MapChange): number {
  const { key, tags = {}, idempotencyKey } = change.request;
  const ownBytes =
    change.method === "map_publish"
      ? change.request.data.length +
        (change.request.streamData?.length ?? 0) +
        change.request.versionEpoch.length
      : 0;
  return Object.entries(tags).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    ownBytes + key.length + idempotencyKey.length,
  );
}
