import { createHmac } from "node:crypto";
import { type Caller, tokenSecret } from "../systems/wire.ts";

/** So many callers of one channel, each with a token for a user of its own. */
export function callersWithTokens(channel: string, count: number): readonly Caller[] {
  return Array.from({ length: count }, (_, index) => ({
    channel,
    token: tokenOf(`user-${index}`),
  }));
}

/** A connection token of a user, as a backend would sign it. */
export function tokenOf(user: string): string {
  const expiresAtSeconds = Math.floor(Date.now() / 1_000) + tokenLifeSeconds;
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: user, exp: expiresAtSeconds })}`;
  return `${signed}.${createHmac("sha256", tokenSecret).update(signed).digest("base64url")}`;
}

function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

/** None of the tokens expires before the bench ends. */
const tokenLifeSeconds = 86_400;
