import type { TokenAlgorithm } from "../../src/access/keys.ts";
import { limits } from "../../src/limits.ts";

/** A source of the keys that verify tokens: `StaticKeys` or `KeySet`. */
export interface TokenKeys {
  /**
   * Finds the keys with which a token may have been signed.
   *
   * @param algorithm the supported algorithm that the token's header names; all keys returned are for this algorithm
   * and for no other kind of key (rule A2)
   * @param kid the key id in the token's header, if there is one
   * @param nowMs milliseconds since 1970
   */
  keysFor(algorithm: TokenAlgorithm, kid: string | undefined, nowMs: number): Promise<FoundKeys>;
  /** Says, in words, that a signature of this algorithm doesn't fit the key. */
  mismatch(algorithm: TokenAlgorithm): string;
}

/** The keys to try in turn. `reason` quotes nothing from the token. */
export type FoundKeys =
  | { readonly outcome: "found"; readonly keys: readonly CryptoKey[] }
  /** The key may exist, but can't be fetched or used now. */
  | { readonly outcome: "unavailable" }
  /** There is no such key, so the token is invalid. */
  | { readonly outcome: "unknown"; readonly reason: string };

/** The result of every source for an algorithm without a key. */
export const algorithmNotAllowed = {
  outcome: "unknown",
  reason: "the algorithm is not allowed",
} as const satisfies FoundKeys;

/**
 * A key that is imported into WebCrypto once for each algorithm. A key that can't be imported is the operator's fault
 * and not the client's. So clients get an error that lets them retry later, and the log names the key once.
 */
export class UsableKey {
  readonly #name: string;
  readonly #import: (algorithm: string) => Promise<CryptoKey | Uint8Array>;
  readonly #imported = new Map<string, CryptoKey | "unusable">();

  /**
   * @param name the name of the key in the log
   * @param importKey imports the key for an algorithm, or throws
   */
  constructor(name: string, importKey: (algorithm: string) => Promise<CryptoKey | Uint8Array>) {
    this.#name = name;
    this.#import = importKey;
  }

  /** The key for an algorithm; undefined if it can't be used. */
  async for(algorithm: string): Promise<CryptoKey | undefined> {
    // Only the imported key is kept, never the promise, because a request must not wait for another request's I/O.
    const known = this.#imported.get(algorithm);
    if (known !== undefined) return known === "unusable" ? undefined : known;
    const key = await this.#usable(algorithm);
    if (key === undefined && this.#imported.get(algorithm) !== "unusable") {
      console.error(`${this.#name} can't be used for ${algorithm}`);
    }
    this.#imported.set(algorithm, key ?? "unusable");
    return key;
  }

  async #usable(algorithm: string): Promise<CryptoKey | undefined> {
    try {
      const key = await this.#import(algorithm);
      return "algorithm" in key && isLongEnough(key) ? key : undefined;
    } catch {
      return undefined; // The error may quote the key.
    }
  }
}

function isLongEnough({ algorithm }: CryptoKey): boolean {
  return (
    !("modulusLength" in algorithm) ||
    (typeof algorithm.modulusLength === "number" && algorithm.modulusLength >= limits.rsaKeyBitsMin)
  );
}
