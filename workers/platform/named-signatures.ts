import { previousName, type Secrets } from "../../src/access/secrets.ts";
import type { SignedReceiver } from "../../src/object/platform.ts";
import { hexadecimal } from "./digest.ts";
import type { WebhookSigner } from "./webhook-signature.ts";
import { hexadecimalBytes } from "../../src/protocol/bytes.ts";

/**
 * Finds out whether a text is signed with a secret, or with the one before it: HMAC-SHA256, which the platform compares in
 * constant time (rule A7).
 *
 * @param secret    its name
 * @param signature hexadecimal; any other text is no signature
 */
export async function isSigned(
  secrets: Secrets,
  secret: string,
  text: string,
  signature: string,
): Promise<boolean> {
  if (!/^[\da-f]{64}$/i.test(signature)) return false;
  const bytes = hexadecimalBytes(signature);
  const signed = new TextEncoder().encode(text);
  for (const name of [secret, previousName(secret)]) {
    const key = await keyOf(secrets, name);
    if (key !== undefined && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return true;
  }
  return false;
}

/** Signs requests to a receiver with its secret. */
export function namedSigner(
  secrets: Secrets,
  { secret, headers }: Pick<SignedReceiver, "secret" | "headers">,
): Pick<WebhookSigner, "headers"> {
  return {
    headers: async (_id, body) => {
      const key = await keyOf(secrets, secret);
      if (key === undefined) throw new Error("a secret is missing");
      const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(body));
      return headers(hexadecimal(new Uint8Array(signature)));
    },
  };
}

/** The key of a secret, imported once for each configuration; undefined if there is no such secret. */
function keyOf(secrets: Secrets, name: string): Promise<CryptoKey> | undefined {
  const value = secrets[name] ?? "";
  if (value === "") return undefined;
  const known = keys.get(secrets) ?? new Map<string, Promise<CryptoKey>>();
  keys.set(secrets, known);
  const bytes = new TextEncoder().encode(value);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key =
    known.get(name) ?? crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign", "verify"]);
  known.set(name, key);
  return key;
}

const keys = new WeakMap<Secrets, Map<string, Promise<CryptoKey>>>();
