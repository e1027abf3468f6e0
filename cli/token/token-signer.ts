import { importPKCS8, SignJWT } from "jose";
import { isSecretAlgorithm, type TokenAlgorithm } from "../../src/access/keys.ts";
import type { JsonObject } from "../../src/protocol/wire-value.ts";

/** The key that signs a token, and what the token's header says of it. */
export interface SigningKey {
  readonly algorithm: TokenAlgorithm;
  /** An HMAC secret, or a private key as PKCS #8 in PEM. */
  readonly key: string;
  /** The id of the key in a JWKS; absent if the token names none. */
  readonly id?: string;
}

/**
 * Signs claims.
 *
 * @throws if the key isn't one of its algorithm
 */
export async function signToken(claims: JsonObject, signing: SigningKey): Promise<string> {
  const { algorithm, key, id } = signing;
  const imported = isSecretAlgorithm(algorithm)
    ? new TextEncoder().encode(key)
    : await importPKCS8(key, algorithm);
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: algorithm, typ: "JWT", ...(id !== undefined && { kid: id }) })
    .sign(imported);
}

/**
 * A token for trying out the server, valid for 7 days. Undefined without an HMAC secret, because signing for a public
 * key needs the private one.
 *
 * @param userIdClaim the claim that names the user
 */
export async function trialToken(
  secret: string,
  userIdClaim: string,
  nowMs: number = Date.now(),
): Promise<string | undefined> {
  if (secret === "") return undefined;
  const nowSeconds = Math.floor(nowMs / 1_000);
  const claims = { [userIdClaim]: "newcomer", iat: nowSeconds, exp: nowSeconds + 7 * 86_400 };
  return signToken(claims, { algorithm: "HS256", key: secret });
}
