import { hexadecimal } from "./digest.ts";
import {
  joinedKeys,
  parseTrackSignature,
  signedText,
  type TrackVerdict,
  trackVerdict,
} from "../../src/access/key-signature.ts";
import type { TrackBatch } from "../../src/protocol/command.ts";

/**
 * Verifies the signatures with which backends let users track keys of shared polls (docs/protocol.md 3.5, rule SP1).
 * The platform compares in constant time.
 */
export class TrackSignatures {
  readonly #secrets: TrackSecrets;
  /** Imported with the first signature. */
  #current: Promise<CryptoKey | undefined> | undefined;
  #previous: Promise<CryptoKey | undefined> | undefined;

  constructor(secrets: TrackSecrets) {
    this.#secrets = secrets;
  }

  /** Verifies the signatures of all batches. */
  verify(
    batches: readonly TrackBatch[],
    user: string,
    channel: string,
    nowMs: number,
  ): Promise<readonly TrackVerdict[]> {
    return Promise.all(batches.map((batch) => this.#verify(batch, user, channel, nowMs)));
  }

  async #verify(
    { signature: text, items }: TrackBatch,
    user: string,
    channel: string,
    nowMs: number,
  ): Promise<TrackVerdict> {
    const signature = parseTrackSignature(text);
    if (signature === undefined) return invalid;
    const keys = joinedKeys(items.map(({ key }) => key));
    // The parts are divided by NUL: with one in a part, a signature would be one of other parts, too.
    const dividers = keys.split("\0").length;
    if (dividers !== Math.max(1, items.length) || user.includes("\0") || channel.includes("\0"))
      return invalid;
    const digest = await crypto.subtle.digest("SHA-256", bytesOf(keys));
    const signed = bytesOf(
      signedText(signature, user, channel, hexadecimal(new Uint8Array(digest))),
    );
    for (const key of await this.#keys(nowMs)) {
      if (key === undefined) continue;
      if (await crypto.subtle.verify("HMAC", key, signature.hmac, signed))
        return trackVerdict(signature, nowMs);
    }
    return invalid;
  }

  #keys(nowMs: number): Promise<readonly (CryptoKey | undefined)[]> {
    const { current, previous, previousValidUntilSeconds: until } = this.#secrets;
    this.#current ??= importKey(current);
    this.#previous ??= importKey(previous);
    const isOver = until !== 0 && nowMs / 1_000 > until;
    return Promise.all(isOver ? [this.#current] : [this.#current, this.#previous]);
  }
}

/** The secrets that sign keys; "" for none. */
export interface TrackSecrets {
  readonly current: string;
  readonly previous: string;
  /** Until when the previous one is accepted, seconds since 1970; 0 for no end. */
  readonly previousValidUntilSeconds: number;
}

const invalid: TrackVerdict = { outcome: "invalid" };

function bytesOf(text: string) {
  return new TextEncoder().encode(text);
}

async function importKey(secret: string): Promise<CryptoKey | undefined> {
  if (secret === "") return undefined;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", bytesOf(secret), algorithm, false, ["verify"]);
}
