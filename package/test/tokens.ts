import { createHmac } from "node:crypto";
import { checkNumber, numberRules } from "./numbers.ts";

/** What a token says beside its user (docs/protocol.md 5), and for how long it is valid. */
export interface TokenClaims {
  /** By the clock of the test server; an hour if absent. A token with 0 has ended already. */
  readonly expiresInSeconds?: number;
  /** Further claims, such as `info`, `channels`, `subs`, `caps`, `meta` and `jti`. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/**
 * Signs a token as a backend does: a connection token, or with the claim `channel` a subscription token.
 *
 * @param nowMs by the clock of the server that checks it
 */
export function signedToken(
  user: string,
  { expiresInSeconds = 3_600, claims = {} }: TokenClaims,
  secret: string,
  nowMs: number,
): string {
  checkNumber("token: expiresInSeconds", expiresInSeconds, numberRules.expiresInSeconds);
  const nowSeconds = Math.floor(nowMs / 1_000);
  const said = { sub: user, iat: nowSeconds, exp: nowSeconds + expiresInSeconds, ...claims };
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(said)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
