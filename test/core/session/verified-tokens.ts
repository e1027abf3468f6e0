import type { ConnectionClaims, SubscriptionClaims } from "../../../src/access/claims.ts";
import type { VerifiedTokens } from "../../../src/session/ports.ts";

/** A good connection token of this user. */
export function connectionToken(
  user: string,
  more: Partial<ConnectionClaims> = {},
): VerifiedTokens {
  const claims = { user, expireAtSeconds: 0, ...more };
  return { connection: { outcome: "verified", claims } };
}

/** A valid subscription token for user 42 and channel `room`, except for the given claims. */
export function subscriptionToken(more: Partial<SubscriptionClaims> = {}): VerifiedTokens {
  const claims = {
    user: "42",
    channel: "room",
    client: "",
    expireAtSeconds: 0,
    override: {},
    ...more,
  };
  return { subscription: { outcome: "verified", claims } };
}

export const expiredToken = {
  connection: { outcome: "expired" },
  subscription: { outcome: "expired" },
} as const satisfies VerifiedTokens;

export const invalidToken = {
  connection: { outcome: "invalid", reason: "the signature is wrong" },
  subscription: { outcome: "invalid", reason: "the signature is wrong" },
} as const satisfies VerifiedTokens;
