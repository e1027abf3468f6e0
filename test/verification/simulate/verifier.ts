import type { ConnectionClaims, SubscriptionClaims } from "../../../src/access/claims.ts";
import { trackVerdict } from "../../../src/access/key-signature.ts";
import type { Verifier } from "../../../src/object/platform.ts";

/** Takes all tokens for valid, and so all signatures of keys, whose text is the time at which they expire. */
export const verifier: Verifier = {
  connection: (token, _, done) => done({ outcome: "verified", claims: claimsOf(token) }),
  subscription: (token, _, done) =>
    done({ outcome: "verified", claims: subscriptionClaimsOf(token) }),
  signed: (_secret, _text, _signature, done) => done(true),
  tracks: (batches, _user, _channel, nowMs, done) =>
    done(
      batches.map(({ signature }) =>
        trackVerdict(
          {
            issuedAt: "0",
            expireAt: signature,
            expireAtSeconds: Number(signature),
            hmac: new Uint8Array(),
          },
          nowMs,
        ),
      ),
    ),
};

/** The token of a client, whose text is its claims. */
export function tokenOf(claims: ConnectionClaims): string {
  return JSON.stringify(claims);
}

/** The token of a subscription. */
export function subscriptionTokenOf(claims: SubscriptionClaims): string {
  return JSON.stringify(claims);
}

function subscriptionClaimsOf(token: string): SubscriptionClaims {
  const claims: SubscriptionClaims = JSON.parse(token);
  return claims;
}

function claimsOf(token: string): ConnectionClaims {
  const claims: ConnectionClaims = JSON.parse(token);
  return claims;
}
