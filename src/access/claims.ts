import type { FilterNode } from "../protocol/command.ts";
import type { JsonText } from "../protocol/json/text.ts";

/** The claims of a connection token (docs/protocol.md 5.1) whose signature has been verified (rule A2). */
export interface ConnectionClaims {
  /** The user's id; "" for an anonymous token. */
  readonly user: string;
  /** When the connection ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** The token's `jti`, by which a backend may revoke it (rule U10); absent if it has none. */
  readonly uid?: string;
  /** The token's `iat`, in seconds since 1970; absent if it has none. */
  readonly issuedAtSeconds?: number;
  /** Shown to other clients as `conn_info`. */
  readonly info?: JsonText;
  /** What `caps` allows beside the options of namespaces, as text for `capabilitiesOn`; absent if it allows nothing. */
  readonly capabilities?: string;
  /** Sent to backends whose hooks ask for it (docs/protocol.md 7), and to nobody else; absent if none does. */
  readonly meta?: JsonText;
  /** The server-side subscriptions of the connection; absent if the token names none. */
  readonly subscriptions?: readonly ServerSubscription[];
}

/**
 * The claims without the subscriptions, that is, only the identity. Most tokens name no subscriptions, and their claims
 * aren't copied.
 */
export function withoutSubscriptions(claims: ConnectionClaims): ConnectionClaims {
  if (claims.subscriptions === undefined) return claims;
  const { subscriptions: _, ...kept } = claims;
  return kept;
}

/** The claims without the metadata, which takes room where no hook asks for it. */
export function withoutMeta(claims: ConnectionClaims): ConnectionClaims {
  if (claims.meta === undefined) return claims;
  const { meta: _, ...kept } = claims;
  return kept;
}

/** One of the token's `channels`, or of its `subs`. */
export interface ServerSubscription {
  readonly channel: string;
  /** Shown to other clients as `chan_info`. */
  readonly info?: JsonText;
  /** Returned to the subscriber as `data`. */
  readonly data?: JsonText;
  /** Only publications that pass it are sent to the subscriber (rule A17); valid. */
  readonly serverFilter?: FilterNode;
  /** These users become members of the channel's audience when the subscription begins (rule CU29). */
  readonly members?: readonly string[];
  readonly override: SubscriptionOverride;
}

/** The claims of a subscription token (docs/protocol.md 5.2) whose signature has been verified (rule A2). */
export interface SubscriptionClaims {
  readonly user: string;
  readonly channel: string;
  /** The id of the client that the token is bound to; "" for any client. */
  readonly client: string;
  /** When the subscription ends, in seconds since 1970; 0 for never. */
  readonly expireAtSeconds: number;
  /** The token's `jti`, by which a backend may revoke it (rule U10); absent if it has none. */
  readonly uid?: string;
  /** The token's `iat`, in seconds since 1970; absent if it has none. */
  readonly issuedAtSeconds?: number;
  /** Shown to other clients as `chan_info`. */
  readonly info?: JsonText;
  /** Returned to the subscriber as `data`. */
  readonly data?: JsonText;
  /** Only publications that pass it are sent to the subscriber (rule A17); valid. */
  readonly serverFilter?: FilterNode;
  /** These users become members of the channel's audience when the subscription begins (rule CU29). */
  readonly members?: readonly string[];
  readonly override: SubscriptionOverride;
}

/** The terms of a subscription that is allowed without a subscription token. */
export type SubscribeTerms = Pick<
  SubscriptionClaims,
  "expireAtSeconds" | "info" | "data" | "serverFilter" | "members" | "override"
>;

/** Namespace options that a token overrides for one subscription; an absent option is the namespace's. */
export interface SubscriptionOverride {
  readonly presence?: boolean;
  readonly joinLeave?: boolean;
  readonly forcePushJoinLeave?: boolean;
  readonly forcePositioning?: boolean;
  readonly forceRecovery?: boolean;
}

/**
 * Why a subscription token is not for this channel and this user, or not for this client if it names one (rule A4);
 * undefined if it is. The claims that differ are named, without their values.
 */
export function unboundReason(
  claims: SubscriptionClaims,
  channel: string,
  { user, client }: { readonly user: string; readonly client: string },
): string | undefined {
  const differing = [
    ...(claims.channel === channel ? [] : ["channel"]),
    ...(claims.user === user ? [] : ["user"]),
    ...(claims.client === "" || claims.client === client ? [] : ["client"]),
  ];
  return differing.length === 0
    ? undefined
    : `the token is for another ${differing.join(" and another ")}`;
}

/**
 * The outcome of verifying a token. `reason` says what is wrong, and quotes neither the token nor the value of a claim.
 */
export type TokenOutcome<Claims> =
  | { readonly outcome: "verified"; readonly claims: Claims }
  /** Expired, or not valid yet. `reason` says which claim says so, and how far off it is. */
  | { readonly outcome: "expired"; readonly reason?: string }
  /** The keys couldn't be fetched, so the token can't be verified now. The client should retry later. */
  | { readonly outcome: "unavailable" }
  /** `rule`: the one in src/SPEC.md by which it is; absent for rule A2. */
  | { readonly outcome: "invalid"; readonly reason: string; readonly rule?: "U10" | "U11" };

/** The outcome of verifying a connection token. */
export type ConnectionVerdict = TokenOutcome<ConnectionClaims>;
/** The outcome of verifying a subscription token. */
export type SubscriptionVerdict = TokenOutcome<SubscriptionClaims>;
