import type { TokenAlgorithm } from "../../src/access/keys.ts";

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
