import { SignJWT } from "jose";
import { digest, hexadecimal } from "../../../workers/platform/digest.ts";
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

/** The HMAC of a text with SHA-256, in hexadecimal. */
export async function hmac(text: string, secret: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const raw = encoder.encode(secret);
  const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["sign"]);
  return hexadecimal(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))));
}

/** The signature of a shared poll's keys for a user, until a time in seconds since 1970; 0: for ever. */
export async function keySignature(
  { user, channel, keys }: { user: string; channel: string; keys: readonly string[] },
  secret: string,
  expireAt = 0,
): Promise<string> {
  const keysDigest = hexadecimal(new Uint8Array(await digest(keys.join("\0"))));
  const text = ["1", `${expireAt}`, user, channel, keysDigest].join("\0");
  return `1:${expireAt}:${await hmac(text, secret)}`;
}
