import { importSPKI } from "jose";
import {
  algorithmsOf,
  isSecretAlgorithm,
  type TokenAlgorithm,
} from "../../src/access/token-algorithm.ts";
import type { TokenConfig } from "../../src/config/config.ts";
import { algorithmNotAllowed, type FoundKeys, type TokenKeys } from "./token-keys.ts";
import { UsableKey } from "./usable-key.ts";

/** Secrets that sign tokens; "" for none. */
export interface TokenSecrets {
  readonly current: string;
  /** What was the current one before, so that tokens which it signed are still believed. */
  readonly previous: string;
}

/** The keys that the operator gave: secrets and public keys, each for its own algorithms (rule A2). */
export class StaticKeys implements TokenKeys {
  readonly #current: readonly Uint8Array[];
  readonly #previous: readonly Uint8Array[];
  readonly #previousUntilMs: number;
  readonly #publicKeys: ReadonlyMap<TokenAlgorithm, UsableKey>;

  constructor(config: TokenConfig, secrets: TokenSecrets) {
    this.#current = encoded(secrets.current);
    this.#previous = encoded(secrets.previous);
    const untilSeconds = config.hmacPreviousSecretKeyValidUntilSeconds;
    this.#previousUntilMs = untilSeconds === 0 ? Number.POSITIVE_INFINITY : untilSeconds * 1000;
    this.#publicKeys = new Map(
      config.publicKeys.flatMap(({ kind, pem }) => {
        const key = new UsableKey(`the public key (${kind}) of tokens`, (algorithm) =>
          importSPKI(pem, algorithm),
        );
        return algorithmsOf(kind).map((algorithm) => [algorithm, key] as const);
      }),
    );
  }

  async find(
    algorithm: TokenAlgorithm,
    _kid: string | undefined,
    nowMs: number,
  ): Promise<FoundKeys> {
    if (isSecretAlgorithm(algorithm)) {
      const keys =
        nowMs < this.#previousUntilMs ? [...this.#current, ...this.#previous] : this.#current;
      return keys.length === 0 ? algorithmNotAllowed : { outcome: "found", keys };
    }
    const publicKey = this.#publicKeys.get(algorithm);
    if (publicKey === undefined) return algorithmNotAllowed;
    const key = await publicKey.for(algorithm);
    return key === undefined ? { outcome: "unavailable" } : { outcome: "found", keys: [key] };
  }
}

/** An empty secret is none: everybody knows it. */
function encoded(secret: string): readonly Uint8Array[] {
  return secret === "" ? [] : [new TextEncoder().encode(secret)];
}
