import { SignJWT } from "jose";

/**
 * A token for trying out the server, valid for 7 days. Undefined without an HMAC secret, because signing for a public
 * key needs the private one.
 */
export async function trialToken(secret: string, userIdClaim: string): Promise<string | undefined> {
  if (secret === "") return undefined;
  return new SignJWT({ [userIdClaim]: "newcomer" })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuedAt()
    .setExpirationTime("7d")
    .sign(new TextEncoder().encode(secret));
}
