import { secretPattern } from "../../src/contract/session-snapshot.ts";
import { areEqual, hexadecimal } from "./digest.ts";

/**
 * Makes the secrets of sessions on HTTP streams, and knows them again before any object is called (rule A23): 128 random
 * bits, and as many of a keyed hash of these and of the object's node, in hexadecimal. Any holder of a secret can post
 * frames as the client.
 */
export class SessionSecrets {
  readonly #texts: readonly string[];
  /** Imported once, by the first session. */
  #keys: Promise<readonly CryptoKey[]> | undefined;

  /** @param keys the first one makes secrets; those made with the others, which are being rotated out, count as well */
  constructor(keys: readonly string[]) {
    this.#texts = keys;
  }

  /** Makes the secret of a session in the object of that node. */
  async make(node: string): Promise<string> {
    const random = hexadecimal(crypto.getRandomValues(new Uint8Array(halfDigits / 2)));
    const [key] = await this.#imported();
    if (key === undefined) throw new Error("There is no key");
    return random + (await hashOf(key, random, node));
  }

  /** Whether the object of that node has made the secret of a session, which is anonymous if more follows after `@`. */
  async made(session: string, node: string): Promise<boolean> {
    const [secret = ""] = session.split("@", 1);
    if (!secretPattern.test(secret)) return false;
    const random = secret.slice(0, halfDigits);
    const sent = new TextEncoder().encode(secret.slice(halfDigits));
    for (const key of await this.#imported()) {
      const right = new TextEncoder().encode(await hashOf(key, random, node));
      if (areEqual(sent, right)) return true;
    }
    return false;
  }

  #imported(): Promise<readonly CryptoKey[]> {
    this.#keys ??= Promise.all(this.#texts.map(importKey));
    return this.#keys;
  }
}

const halfDigits = 32;

async function hashOf(key: CryptoKey, random: string, node: string): Promise<string> {
  // Nothing else is ever signed with such a text.
  const signed = new TextEncoder().encode(`session ${random} ${node}`);
  const hash = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return hexadecimal(hash.subarray(0, halfDigits / 2));
}

function importKey(text: string): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", new TextEncoder().encode(text), algorithm, false, ["sign"]);
}
