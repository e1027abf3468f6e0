import { limits } from "../../src/limits.ts";

/**
 * The tokens whose signatures were verified last, so that clients which come back with the tokens that they had cost no
 * verification (rule A37). It knows nothing but that a key has signed these bytes: whoever asks has found out whether the
 * key is in force, and checks the claims again.
 */
export class RecentTokens {
  /** By token; those used last come last. */
  readonly #verified = new Map<string, VerifiedToken>();
  #bytes = 0;

  /** The payload of a token that was verified with one of the keys; undefined if it has to be verified. */
  payload(token: string, keys: readonly CryptoKey[]): string | undefined {
    const verified = this.#verified.get(token);
    if (verified === undefined || !keys.includes(verified.key)) return undefined;
    this.#verified.delete(token);
    this.#verified.set(token, verified);
    return verified.payload;
  }

  /** Remembers that a key has signed a token, and forgets those that weren't used for longest. */
  note(token: string, verified: VerifiedToken): void {
    this.#forget(token);
    this.#verified.set(token, verified);
    this.#bytes += bytesOf(token, verified);
    for (const oldest of this.#verified.keys()) {
      if (this.#bytes <= limits.verifiedTokensBytesMax) break;
      this.#forget(oldest);
    }
  }

  #forget(token: string): void {
    const verified = this.#verified.get(token);
    if (verified === undefined) return;
    this.#verified.delete(token);
    this.#bytes -= bytesOf(token, verified);
  }
}

interface VerifiedToken {
  readonly key: CryptoKey;
  readonly payload: string;
}

function bytesOf(token: string, { payload }: VerifiedToken): number {
  return token.length + 2 * payload.length + limits.verifiedTokenRestBytes;
}
