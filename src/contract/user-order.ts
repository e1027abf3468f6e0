import type { ServerSubscription } from "../access/claims.ts";
import type { JsonText } from "../protocol/json/text.ts";
import type { StreamPosition } from "../protocol/publication.ts";
import type { DisconnectCode } from "../protocol/codes.ts";

/**
 * What a backend orders for connections of one user, or for those made with one token (rules U1 to U11). The edge sends orders to the user's home, and the
 * home sends them, numbered, to the objects that hold sockets of the user. A home stores orders. During a deploy the
 * sides may be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export type UserOrder = HolderOrder | BlockOrder | UnblockOrder;

/** An order that the holders carry out. */
export type HolderOrder =
  | DisconnectOrder
  | UnsubscribeOrder
  | SubscribeOrder
  | RefreshOrder
  | RevokeOrder
  | InvalidateOrder;

/** Whether holders carry the order out, and not the home alone. */
export function isHolderOrder(order: UserOrder): order is HolderOrder {
  return order.method !== "block_user" && order.method !== "unblock_user";
}

/** Ends the user's connections, and has the home refuse new ones (rule U9). */
interface BlockOrder {
  readonly method: "block_user";
  /** When the block ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
}

/** Ends a block. */
interface UnblockOrder {
  readonly method: "unblock_user";
}

/**
 * Ends what was made with one token, and has the token's home refuse it (rule U10). It is the only order for the key of a
 * token, and it carries its own end, so repeating it is harmless however late.
 */
interface RevokeOrder extends OrderTarget {
  readonly method: "revoke_token";
  /** When the revocation ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
}

/** Ends what was made with earlier tokens of the user, and has these refused (rule U11). */
interface InvalidateOrder extends OrderTarget, Invalidation {
  readonly method: "invalidate_user_tokens";
}

/** An order that makes tokens of a user invalid. */
export interface Invalidation {
  /** Only subscription tokens for this channel are invalid; "" for all tokens of the user. */
  readonly channel: string;
  /** Tokens are invalid whose `iat` lies before, in seconds since 1970; from the edge 0 for now. */
  readonly issuedBeforeSeconds: number;
  /** When the invalidation ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
}

/** Closes the connections. */
interface DisconnectOrder extends OrderTarget {
  readonly method: "disconnect";
  readonly code: DisconnectCode;
}

/** Ends the connections' subscriptions to a channel. */
interface UnsubscribeOrder extends OrderTarget {
  readonly method: "unsubscribe";
  readonly channel: string;
}

/** Subscribes the connections to a channel, as the server does (rule U7). */
export interface SubscribeOrder extends OrderTarget {
  readonly method: "subscribe";
  readonly subscription: ServerSubscription;
  /** When the subscriptions end, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** The position after which publications are delivered; absent: from now on. */
  readonly recoverSince?: StreamPosition;
}

/** Changes when the connections end, and what other clients are shown of them (rule U8). */
export interface RefreshOrder extends OrderTarget {
  readonly method: "refresh";
  /** The connections end now. */
  readonly expired: boolean;
  /** When they end otherwise, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** The new `conn_info`; absent: as before. */
  readonly info?: JsonText;
}

/** Which of the user's connections an order names: all, unless a field narrows them down. */
export interface OrderTarget {
  /** The ID of the only connection; absent for any. */
  readonly client?: string;
  /** The session secret of the only connection (docs/protocol.md 4.3); absent for any. */
  readonly session?: string;
  /** The IDs of connections that are left alone. */
  readonly whitelist?: readonly string[];
}

/**
 * An order as its home numbers it. The numbers of a home grow by 1 with each order for any of its users, and a session
 * remembers the last one that it has seen, so that no order reaches it twice (rule U3).
 */
export interface NumberedOrder {
  readonly number: number;
  readonly order: HolderOrder;
}

/** A home's answer to a registration. */
export interface Registered {
  /** The number of the home's last order. The registered connections begin after it. */
  readonly lastOrder: number;
  /** Those of the users that are blocked, and of the tokens that are revoked; they weren't registered (rules U9, U10). */
  readonly blocked?: readonly string[];
  /** What makes tokens of the users invalid (rule U11); absent: nothing. */
  readonly invalidations?: readonly UserInvalidation[];
}

/** Of which users and tokens of one home an object holds something. */
export interface HeldKeys {
  /** Those of users and tokens (`identity-key.ts`). */
  readonly keys: readonly string[];
  /** For each of them when the registration may be forgotten, in seconds since 1970; 0: never, or not known. */
  readonly ends: readonly number[];
}

/** An invalidation, and whose tokens are invalid. */
export interface UserInvalidation extends Invalidation {
  readonly user: string;
}

/** A connection that asks its user's home for a slot (rule U12). */
export interface UserConnection {
  /** The key of the user. */
  readonly key: string;
  /** The connection's ID. */
  readonly client: string;
}

/** A home's answer to connections that ask for slots. */
export interface SlotAnswer {
  /** The IDs of the connections that got none; all others have one. */
  readonly refused: readonly string[];
}

/** The answer of an object that has carried orders out. */
export interface CarriedOut {
  /** Whether the object still holds connections of the user. If not, the home forgets it (rule U31). */
  readonly left: boolean;
  /** Whether an order couldn't be carried out now and has to be repeated; absent: none. */
  readonly failed?: true;
}

/** What became of the orders of one call to a home. */
export type Ordered =
  /** All objects that hold connections of the user have carried out all of them. */
  | { readonly outcome: "done" }
  /** None of the orders was taken. */
  | { readonly outcome: "overloaded"; readonly retryAfterSeconds: number }
  /** None of the orders was taken, because `limits.invalidationsPerUserMax` would be exceeded. */
  | { readonly outcome: "limit-exceeded" }
  /** The orders are kept and repeated, but not all objects have carried them out yet. */
  | { readonly outcome: "pending"; readonly retryAfterSeconds: number };
