import { createHmac } from "node:crypto";
import { type Caller, tokenSecret } from "../systems/wire.ts";

/** So many callers of one channel, each a user of its own with a token that says so. */
export function callersWithTokens(channel: string, count: number): readonly Caller[] {
  return Array.from({ length: count }, (_, index) => ({
    channel,
    token: tokenOf(`user-${index}`),
  }));
}

/** As a backend would sign it. */
function tokenOf(user: string): string {
  const expiresAtSeconds = Math.floor(Date.now() / 1_000) + tokenLifeSeconds;
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: user, exp: expiresAtSeconds })}`;
  return `${signed}.${createHmac("sha256", tokenSecret).update(signed).digest("base64url")}`;
}

function part(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

/** So long that none of them expires before the bench ends. */
const tokenLifeSeconds = 86_400;
