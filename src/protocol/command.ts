import type { Payload } from "./payload.ts";
import type { StreamPosition } from "./publication.ts";

/**
 * What a client may send (docs/protocol.md 1.2 and 1.3), with every absent field given its meaning of absence:
 * "" for strings, 0 for numbers, false for flags. `id` is 0 only for `send`.
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
  | { readonly method: "send"; readonly id: number }
  | { readonly method: "ping"; readonly id: number }
  /** The empty message: the answer to our ping. */
  | { readonly method: "pong" };

export type CommandMethod = Command["method"];

export interface ConnectRequest {
  readonly token: string;
  /** The SDK's own name, such as "js"; for diagnosis only. */
  readonly name: string;
  /** Where the client was in the subscriptions the server made for it, by channel. */
  readonly subscriptions: ReadonlyMap<string, ServerSubscriptionRequest>;
}

/** How a client takes up a subscription that the server makes. */
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
  /** The delta type asked for; "" for none. */
  readonly delta: string;
  /** The tags filter (`tf`); absent when none came along. */
  readonly filter?: FilterNode;
  /** Bit 1: can do channel compaction. Bit 2: answer error 112 instead of `recovered: false`. */
  readonly flag: number;
  /** Subscription type; 0 is a stream. */
  readonly type: number;
}

export interface ChannelRequest {
  readonly channel: string;
}

export interface PublishRequest {
  readonly channel: string;
  /** Absent when the field was absent. */
  readonly data?: Payload;
  /** 0 publishes to the stream; 1 to a map. */
  readonly type: number;
}

export interface HistoryRequest {
  readonly channel: string;
  /** 0: only the position. -1: everything there is. Above 0: at most so many publications. */
  readonly limit: number;
  readonly since?: StreamPosition;
  readonly reverse: boolean;
}

interface RpcRequest {
  /** The backend's name for what is called. */
  readonly method: string;
}

interface RefreshRequest {
  readonly token: string;
}

export interface SubRefreshRequest {
  readonly channel: string;
  readonly token: string;
  /** 0 refreshes the token; 1 and 2 belong to shared poll. */
  readonly type: number;
}

/** Bit 2 of {@link SubscribeRequest.flag}. */
export const flagErrorOnUnrecoverable = 2;

/**
 * A tags filter as a client sends it (docs/protocol.md 3.2), with every absent field given its meaning of absence. A tree, no deeper
 * and no larger than the limits say; whether it makes sense is for `hub/tags-filter.ts` to say.
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
