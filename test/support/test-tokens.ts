import { createHmac } from "node:crypto";

/** The secrets of every server that tests start in their own process. */
export const testSecrets = {
  API_KEY: "api-key-of-tests",
  TOKEN_HMAC_SECRET_KEY: "token-hmac-secret-key-of-tests",
} as const;

/** Signs claims as a backend would: a connection token, or with the claim `channel` a subscription token. */
export function signToken(claims: object, secret: string = testSecrets.TOKEN_HMAC_SECRET_KEY) {
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${hmac(signed, secret)}`;
}

/** A way to forge a token from claims that open everything. */
export interface Forgery {
  readonly name: string;
  readonly forge: (claims: object) => string;
}

/** For `it.each`: every attack on a signature that JWT libraries have been vulnerable to. */
export const forgeries: readonly Forgery[] = [
  { name: "algorithm none", forge: (claims) => `${part({ alg: "none" })}.${part(claims)}.` },
  {
    name: "algorithm nOnE with a signature",
    forge: (claims) => underHeader({ alg: "nOnE" }, claims),
  },
  {
    name: "an algorithm that isn't on our list",
    forge: (claims) => underHeader({ alg: "RS256" }, claims),
  },
  { name: "another secret", forge: (claims) => signToken(claims, "secret-of-somebody-else") },
  { name: "an empty secret", forge: (claims) => signToken(claims, "") },
  {
    name: "claims changed after signing",
    forge: (claims) => {
      const [header = "", , signature = ""] = signToken({ sub: "nobody" }).split(".");
      return `${header}.${part(claims)}.${signature}`;
    },
  },
  {
    name: "a signature cut off",
    forge: (claims) => signToken(claims).split(".").slice(0, 2).join("."),
  },
  {
    name: "a key of its own in the header",
    forge: (claims) => {
      const key = "key-in-the-header";
      const jwk = { kty: "oct", k: Buffer.from(key).toString("base64url") };
      const signed = `${part({ alg: "HS256", jwk })}.${part(claims)}`;
      return `${signed}.${hmac(signed, key)}`;
    },
  },
];

/** Seconds since 1970, so many from now, as in a token's claims. */
export function secondsFromNow(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

function underHeader(header: object, claims: object): string {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${hmac(signed, testSecrets.TOKEN_HMAC_SECRET_KEY)}`;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function hmac(signed: string, secret: string): string {
  return createHmac("sha256", secret).update(signed).digest("base64url");
}
