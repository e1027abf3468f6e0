import type { JsonText } from "../protocol/json/text.ts";

/** What a connection token says of its bearer (docs/protocol.md 5.1), once its signature was found good. */
export interface ConnectionClaims {
  /** User ID; "" for an anonymous token. */
  readonly user: string;
  /** When the connection ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** Shown to others as `conn_info`. */
  readonly info?: JsonText;
  /** Subscriptions that the server makes for the connection; absent when the token names none. */
  readonly subscriptions?: readonly ServerSubscription[];
}

/** The same without the subscriptions: who somebody is. Most tokens name none, and needn't be copied. */
export function withoutSubscriptions(claims: ConnectionClaims): ConnectionClaims {
  if (claims.subscriptions === undefined) return claims;
  const { subscriptions: _, ...kept } = claims;
  return kept;
}

/** One of the token's `channels`, or of its `subs`. */
export interface ServerSubscription {
  readonly channel: string;
  /** Shown to others as `chan_info`. */
  readonly info?: JsonText;
  /** Returned to the subscriber as `data`. */
  readonly data?: JsonText;
  readonly override: SubscriptionOverride;
}

/** What a subscription token says (docs/protocol.md 5.2). */
export interface SubscriptionClaims {
  readonly user: string;
  readonly channel: string;
  /** The connection it is bound to; "" for any. */
  readonly client: string;
  /** When the subscription ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** Shown to others as `chan_info`. */
  readonly info?: JsonText;
  /** Returned to the subscriber as `data`. */
  readonly data?: JsonText;
  readonly override: SubscriptionOverride;
}

/** Namespace options that a token sets for one subscription; absent ones stay as the namespace has them. */
export interface SubscriptionOverride {
  readonly presence?: boolean;
  readonly joinLeave?: boolean;
  readonly forcePushJoinLeave?: boolean;
  readonly forcePositioning?: boolean;
  readonly forceRecovery?: boolean;
}

/** What became of a token. `reason` names what is wrong, never the token or a claim's value. */
export type Verdict<Claims> =
  | { readonly outcome: "verified"; readonly claims: Claims }
  | { readonly outcome: "expired" }
  /** Nobody can tell now: the keys are elsewhere and couldn't be fetched. The client is to come again. */
  | { readonly outcome: "unavailable" }
  | { readonly outcome: "invalid"; readonly reason: string };

export type ConnectionVerdict = Verdict<ConnectionClaims>;
export type SubscriptionVerdict = Verdict<SubscriptionClaims>;
