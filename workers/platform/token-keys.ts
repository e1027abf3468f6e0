import type { TokenAlgorithm } from "../../src/access/keys.ts";
import { limits } from "../../src/limits.ts";

/** Where the keys come from against which tokens are verified. */
export interface TokenKeys {
  /**
   * The keys with which a token may have been signed.
   *
   * @param algorithm what its header says, one of ours; every key given is one for this algorithm and for no other kind
   * @param kid what its header calls the key, if it does
   * @param nowMs milliseconds since 1970
   */
  find(algorithm: TokenAlgorithm, kid: string | undefined, nowMs: number): Promise<FoundKeys>;
}

/** Keys to try in turn; `reason` quotes nothing of the token. */
export type FoundKeys =
  | { readonly outcome: "found"; readonly keys: readonly CryptoKey[] }
  /** There may be such a key, but not now. */
  | { readonly outcome: "unavailable" }
  /** There is no such key, so nothing that it signed is believed. */
  | { readonly outcome: "unknown"; readonly reason: string };

/** What every source says of an algorithm that it has no key for. */
export const algorithmNotAllowed = {
  outcome: "unknown",
  reason: "the algorithm is not allowed",
} as const satisfies FoundKeys;

/**
 * A key as WebCrypto has it, made once for each algorithm. One that can't be used is the operator's fault, and not
 * the fault of those who come with tokens: they are told to come again, and the log says why, once.
 */
export class UsableKey {
  readonly #name: string;
  readonly #import: (algorithm: string) => Promise<CryptoKey | Uint8Array>;
  readonly #imported = new Map<string, CryptoKey | "unusable">();

  /**
   * @param name what the log calls it
   * @param importKey makes the key for an algorithm, or throws
   */
  constructor(name: string, importKey: (algorithm: string) => Promise<CryptoKey | Uint8Array>) {
    this.#name = name;
    this.#import = importKey;
  }

  /** The key for an algorithm; undefined when it can't be used. */
  async for(algorithm: string): Promise<CryptoKey | undefined> {
    // Only what importing came to is kept, never its promise: another request must not wait for this one's.
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
      return undefined; // What it says may quote the key.
    }
  }
}

function isLongEnough({ algorithm }: CryptoKey): boolean {
  return (
    !("modulusLength" in algorithm) ||
    (typeof algorithm.modulusLength === "number" && algorithm.modulusLength >= limits.rsaKeyBitsMin)
  );
}
