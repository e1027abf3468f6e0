import { importSPKI } from "jose";
import { algorithmsOf, isSecretAlgorithm, type TokenAlgorithm } from "../../src/access/keys.ts";
import type { TokenRules } from "../../src/config/config.ts";
import { algorithmNotAllowed, type FoundKeys, type TokenKeys, UsableKey } from "./token-keys.ts";

/**
 * The keys from the configuration and the environment: secrets and public keys, each with its own algorithms (rule A2).
 */
export class StaticKeys implements TokenKeys {
  readonly #current: readonly UsableKey[];
  readonly #previous: readonly UsableKey[];
  readonly #previousUntilMs: number;
  readonly #secretName: string;
  readonly #publicKeys: ReadonlyMap<TokenAlgorithm, UsableKey>;

  /** @param of in the log, what the keys are of: "" or " of …" */
  constructor(config: TokenRules, secrets: TokenSecrets, of = "") {
    this.#secretName = secrets.name;
    this.#current = secretKeys(`the token secret${of}`, secrets.current);
    this.#previous = secretKeys(`the previous token secret${of}`, secrets.previous);
    const untilSeconds = config.hmacPreviousSecretKeyValidUntilSeconds;
    this.#previousUntilMs = untilSeconds === 0 ? Number.POSITIVE_INFINITY : untilSeconds * 1000;
    this.#publicKeys = new Map(
      config.publicKeys.flatMap(({ kind, pem }) => {
        const key = new UsableKey(`the ${kind} public key for tokens${of}`, (algorithm) =>
          importSPKI(pem, algorithm),
        );
        return algorithmsOf(kind).map((algorithm) => [algorithm, key] as const);
      }),
    );
  }

  mismatch(algorithm: TokenAlgorithm): string {
    return isSecretAlgorithm(algorithm)
      ? `the signature doesn't match ${this.#secretName}`
      : "the signature doesn't match the public key in the configuration";
  }

  async keysFor(
    algorithm: TokenAlgorithm,
    _kid: string | undefined,
    nowMs: number,
  ): Promise<FoundKeys> {
    if (isSecretAlgorithm(algorithm)) {
      const secrets =
        nowMs < this.#previousUntilMs ? [...this.#current, ...this.#previous] : this.#current;
      if (secrets.length === 0) return algorithmNotAllowed;
      const keys: CryptoKey[] = [];
      for (const secret of secrets) {
        const key = await secret.for(algorithm);
        if (key === undefined) return { outcome: "unavailable" };
        keys.push(key);
      }
      return { outcome: "found", keys };
    }
    const publicKey = this.#publicKeys.get(algorithm);
    if (publicKey === undefined) return algorithmNotAllowed;
    const key = await publicKey.for(algorithm);
    return key === undefined ? { outcome: "unavailable" } : { outcome: "found", keys: [key] };
  }
}

/** The HMAC secrets of tokens; "" for none. */
export interface TokenSecrets {
  /** The name of the secret in the Worker's environment. */
  readonly name: string;
  readonly current: string;
  /** The secret before the current one, with which older tokens were signed. */
  readonly previous: string;
}

/** An empty secret counts as no secret, because an attacker could sign with it. */
function secretKeys(name: string, secret: string): readonly UsableKey[] {
  if (secret === "") return [];
  const bytes = new TextEncoder().encode(secret);
  const importKey = (algorithm: string): Promise<CryptoKey> =>
    // The names of these algorithms contain the size of the hash: HS256, HS384, HS512.
    crypto.subtle.importKey(
      "raw",
      bytes,
      { name: "HMAC", hash: `SHA-${algorithm.slice(2)}` },
      false,
      ["verify"],
    );
  return [new UsableKey(name, importKey)];
}
