import { base64, parseBase64 } from "../../src/protocol/payload.ts";

/**
 * Signs requests to backends as Standard Webhooks says (standardwebhooks.com): HMAC-SHA256 of the request's ID, its time
 * and its body, so that a backend knows that Dormouse has sent the request, and when (rule Q8).
 */
export class WebhookSigner {
  readonly #secrets: readonly string[];
  /** Imported once, by the first request. */
  #keys: Promise<readonly CryptoKey[]> | undefined;

  /** @param secrets the current one, and the one before while it is rotated: a request carries a signature of each */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /**
   * The headers that sign a request.
   *
   * @param id    new for each request
   * @param nowMs the time of the request, ms since 1970
   */
  async headers(
    id: string,
    body: string,
    nowMs: number,
  ): Promise<Readonly<Record<string, string>>> {
    this.#keys ??= Promise.all(this.#secrets.map(importSecret));
    const timestamp = String(Math.floor(nowMs / 1_000));
    const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
    const signatures = await Promise.all(
      (await this.#keys).map(async (key) => {
        const signature = await crypto.subtle.sign("HMAC", key, signed);
        return `v1,${base64(new Uint8Array(signature))}`;
      }),
    );
    return {
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatures.join(" "),
    };
  }
}

/** The secret in the form of Standard Webhooks is base64 after a prefix; any other one is taken as it is. */
function importSecret(secret: string): Promise<CryptoKey> {
  const encoded = secret.startsWith(prefix) ? parseBase64(secret.slice(prefix.length)) : undefined;
  const bytes = encoded ?? new TextEncoder().encode(secret);
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

const prefix = "whsec_";
