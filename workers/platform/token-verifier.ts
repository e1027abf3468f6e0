import { compactVerify, errors } from "jose";
import type { ConnectionVerdict, SubscriptionVerdict, Verdict } from "../../src/access/claims.ts";
import { parseConnectionClaims, parseSubscriptionClaims } from "../../src/access/parse-claims.ts";
import { limits } from "../../src/limits.ts";

/**
 * The one place where tokens are believed, used by the edge and by the objects alike.
 * The algorithm is taken from this list and never from the token, so neither `none` nor a public key used as an HMAC
 * secret gets through.
 */
const algorithms = ["HS256", "HS384", "HS512"];

/** Verifies a connection token's signature and reads its claims (reference 5.1). */
export function verifyConnectionToken(
  token: string,
  secret: string,
  nowMs: number,
): Promise<ConnectionVerdict> {
  return verify(token, secret, (payload) => parseConnectionClaims(payload, nowMs));
}

/** Verifies a subscription token's signature and reads its claims (reference 5.2). */
export function verifySubscriptionToken(
  token: string,
  secret: string,
  nowMs: number,
): Promise<SubscriptionVerdict> {
  return verify(token, secret, (payload) => parseSubscriptionClaims(payload, nowMs));
}

async function verify<Claims>(
  token: string,
  secret: string,
  parse: (payload: string) => Verdict<Claims>,
): Promise<Verdict<Claims>> {
  if (token.length > limits.tokenBytesMax)
    return { outcome: "invalid", reason: "the token is too long" };
  // Some runtimes throw at an empty key and others take it: without a secret nobody is believed.
  if (secret === "") return { outcome: "invalid", reason: "there is no secret" };
  try {
    const key = new TextEncoder().encode(secret);
    const { payload, protectedHeader } = await compactVerify(token, key, { algorithms });
    // RFC 7797 section 7: a payload that isn't encoded makes no JWT.
    if (protectedHeader.b64 === false)
      return { outcome: "invalid", reason: "the payload is not encoded" };
    return parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload));
  } catch (error) {
    if (error instanceof errors.JOSEError) return { outcome: "invalid", reason: error.code };
    if (error instanceof TypeError) return { outcome: "invalid", reason: "the token is malformed" };
    throw error;
  }
}
