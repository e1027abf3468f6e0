import type { Payload } from "./payload.ts";
import type { StreamPosition, Tags } from "./publication.ts";

/**
 * A command as a client sends it (docs/protocol.md 1.2 and 1.3), with every absent field given its meaning of absence:
 * "" for strings, 0 for numbers, false for flags. `id` is 0 only for `send`. `command-fields.ts` says how it is on the
 * wire.
 */
export type Command =
  | { readonly method: "connect"; readonly id: number; readonly request: ConnectRequest }
  | { readonly method: "subscribe"; readonly id: number; readonly request: SubscribeRequest }
  | { readonly method: "unsubscribe"; readonly id: number; readonly request: ChannelRequest }
  | { readonly method: "publish"; readonly id: number; readonly request: PublishRequest }
  | { readonly method: "presence"; readonly id: number; readonly request: ChannelRequest }
  | { readonly method: "presence_stats"; readonly id: number; readonly request: ChannelRequest }
  | { readonly method: "history"; readonly id: number; readonly request: HistoryRequest }
  | { readonly method: "refresh"; readonly id: number; readonly request: RefreshRequest }
  | { readonly method: "sub_refresh"; readonly id: number; readonly request: SubRefreshRequest }
  | { readonly method: "rpc"; readonly id: number; readonly request: RpcRequest }
  | { readonly method: "send"; readonly id: number; readonly request: SendRequest }
  | { readonly method: "ping"; readonly id: number }
  /** The empty message, which answers the server's ping. */
  | { readonly method: "pong" };

export type CommandMethod = Command["method"];

export interface ConnectRequest {
  readonly token: string;
  /** For the backend's connect hook; absent if the field was absent. */
  readonly data?: Payload;
  /** The application's name, or the SDK's, such as "js", and its version: backends are shown them (rules Q2, U20). */
  readonly name: string;
  readonly version: string;
  /** Stands in for headers that a client can't set; for hooks that ask for them. */
  readonly headers: ReadonlyMap<string, string>;
  /** The client's positions in its server-side subscriptions, by channel. */
  readonly subscriptions: ReadonlyMap<string, ServerSubscriptionRequest>;
}

/** The position from which a client recovers a server-side subscription. */
export interface ServerSubscriptionRequest {
  readonly recover: boolean;
  readonly epoch: string;
  readonly offset: number;
}

export interface SubscribeRequest {
  readonly channel: string;
  readonly token: string;
  readonly recover: boolean;
  readonly epoch: string;
  readonly offset: number;
  readonly positioned: boolean;
  readonly recoverable: boolean;
  readonly joinLeave: boolean;
  /** The requested type of deltas; "" for none. */
  readonly delta: string;
  /** The tags filter (`tf`). */
  readonly filter?: FilterNode;
  /** For the backend's subscribe hook; absent if the field was absent. */
  readonly data?: Payload;
  /** Bit 1: the client knows channel compaction. Bit 2: see {@link flagErrorOnUnrecoverable}. */
  readonly flag: number;
  /** One of {@link subscriptionTypes}; other numbers are unknown types. */
  readonly type: number;
  /** One of {@link mapPhases} (docs/protocol.md 3.4); other numbers are unknown phases. 0 on a stream. */
  readonly phase: number;
  /** The cursor of a page of a map's state; "" for the first page. Within `limits.mapCursorBytesMax`. */
  readonly cursor: string;
  /** How many entries a page of a map shall have; 0 for the namespace's default. */
  readonly limit: number;
  /** Whether the pages of a map's state begin with the smallest key, or with the smallest score. */
  readonly asc: boolean;
  /** The client gets the newest publication with the reply, whatever the namespace says of recovery; only in a dialect. */
  readonly newest?: true;
}

export interface ChannelRequest {
  readonly channel: string;
}

export interface PublishRequest {
  readonly channel: string;
  /** Absent if the field was absent. */
  readonly data?: Payload;
  /** 0 publishes to the stream, 1 to a map. */
  readonly type: number;
  /** The key of a map; "" on a stream. */
  readonly key: string;
  /** Removes the key. */
  readonly removed: boolean;
  /** The client's publication has these tags, isn't kept, and doesn't reach the client itself; only in a dialect. */
  readonly passing?: Tags;
}

export interface HistoryRequest {
  readonly channel: string;
  /** 0: only the position. -1: all publications. Above 0: at most so many publications. */
  readonly limit: number;
  readonly since?: StreamPosition;
  readonly reverse: boolean;
}

export interface RpcRequest {
  /** The name of the called method. */
  readonly method: string;
  /** Absent if the field was absent. */
  readonly data?: Payload;
}

interface SendRequest {
  /** Absent if the field was absent. */
  readonly data?: Payload;
}

interface RefreshRequest {
  readonly token: string;
}

export interface SubRefreshRequest {
  readonly channel: string;
  readonly token: string;
  /** One of {@link subRefreshTypes}; other numbers are unknown types. */
  readonly type: number;
  /** The keys to track; of all batches within `limits.trackBatchesMax` and `limits.trackItemsMax`. */
  readonly track: readonly TrackBatch[];
  /** The keys not to track any more; within `limits.untrackKeysMax`. */
  readonly untrack: readonly string[];
}

/** Keys of a shared poll that a backend lets a client track. */
export interface TrackBatch {
  /** The backend's signature of the keys (docs/protocol.md 3.5). */
  readonly signature: string;
  readonly items: readonly KeyedItem[];
}

/** A key of a shared poll, and the version that the client has of it. */
export interface KeyedItem {
  readonly key: string;
  /** 0n if the client has none. Versions beyond 2^53 are rounded, as JavaScript clients round them too. */
  readonly version: bigint;
}

/** The numbers of subscription types (docs/protocol.md 1.3). */
export const subscriptionTypes = {
  stream: 0,
  map: 1,
  map_clients: 2,
  map_users: 3,
  /** For clients they are maps like others. */
  map_receipts: 1,
  shared_poll: 4,
} as const;

/** What a `sub_refresh` does: it renews the token, tracks keys, or ceases to track keys (docs/protocol.md 3.5). */
export const subRefreshTypes = { token: 0, track: 1, untrack: 2 } as const;

/** The numbers of the phases in which a client synchronises a map (docs/protocol.md 3.4). */
export const mapPhases = { live: 0, stream: 1, state: 2 } as const;

/** Bit 2 of {@link SubscribeRequest.flag}: a subscribe that can't be recovered is answered 112 instead (rule R5). */
export const flagErrorOnUnrecoverable = 2;

/**
 * A tags filter as a client sends it (docs/protocol.md 3.2), with every absent field given its meaning of absence: a
 * tree within `limits.filterDepthMax` and `limits.filterNodesMax`. `tags-filter.ts` checks whether it is valid.
 */
export interface FilterNode {
  /** "" for a leaf, or `and`, `or`, `not`. */
  readonly op: string;
  readonly key: string;
  readonly cmp: string;
  readonly val: string;
  readonly vals: readonly string[];
  readonly nodes: readonly FilterNode[];
}
