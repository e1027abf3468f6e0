import { SignJWT } from "jose";
import { testSecrets } from "./test-config.ts";

/** Signs claims as a backend would: a connection token, or with the claim `channel` a subscription token. */
export function token(claims: object, secret = testSecrets.TOKEN_HMAC_SECRET_KEY): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(secret));
}

/** Seconds since 1970, so many from now, as in a token's claims. */
export function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}
