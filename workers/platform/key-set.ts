import { importJWK } from "jose";
import {
  type ParsedKeySet,
  type SetKey,
  isSecretAlgorithm,
  type TokenAlgorithm,
  parseKeySet,
} from "../../src/access/keys.ts";
import { limits } from "../../src/limits.ts";
import { algorithmNotAllowed, type FoundKeys, type TokenKeys, UsableKey } from "./token-keys.ts";
import { utf8Text } from "../../src/protocol/bytes.ts";
import { boundedBytes } from "./bounded-bytes.ts";
import { elapsed } from "../../src/moment.ts";

/**
 * The keys of a JWKS, fetched when they are needed (rule A9). One instance serves all requests and objects of an
 * isolate.
 *
 * The platform ties I/O to the request that began it, and cancels that I/O when the request ends. So no request awaits
 * the fetch of another one, and the requests share only the result. A request that finds a fetch in flight waits with a
 * promise and a timer of its own. The request that fetches resolves that promise, which the platform allows across
 * requests since compatibility date 2024-10-14. If that request has ended, the timer resolves the promise, and the
 * waiting request fetches.
 */
export class KeySet implements TokenKeys {
  readonly #fetch: () => Promise<ParsedKeySet>;
  readonly #of: string;
  #known: KnownKeys = { keys: [], fetchedAtMs: Number.NEGATIVE_INFINITY };
  #inFlight: FetchInFlight | undefined;
  #attemptedAtMs = Number.NEGATIVE_INFINITY;

  /**
   * @param fetch fetches the JWKS and never throws; it is called as seldom as the limits say
   * @param of    in the log, what the JWKS is of: "" or " of …"
   */
  constructor(fetch: () => Promise<ParsedKeySet>, of = "") {
    this.#fetch = fetch;
    this.#of = of;
  }

  mismatch(): string {
    return "the signature doesn't match the key of the JWKS with the token's kid";
  }

  async keysFor(
    algorithm: TokenAlgorithm,
    kid: string | undefined,
    nowMs: number,
  ): Promise<FoundKeys> {
    // A secret in a JWKS would be public.
    if (isSecretAlgorithm(algorithm)) return algorithmNotAllowed;
    if (kid === undefined) return { outcome: "unknown", reason: 'the header has no "kid"' };
    let fetched = false;
    // A second round is needed only if the request that fetched is gone.
    for (let round = 0; round < 2 && !fetched && this.#needsFetch(kid, nowMs); round++) {
      fetched = await (this.#inFlight === undefined ? this.#fetchAt(nowMs) : this.#awaitInFlight());
    }
    const keys = this.#currentKeys(kid, nowMs);
    // Unless the keys have just been fetched, an unknown key may be a new one.
    if (keys.length === 0)
      return fetched ? { outcome: "unknown", reason: 'unknown "kid"' } : unavailable;
    const known = keys.find(({ algorithms }) => algorithms.has(algorithm));
    if (known === undefined) return algorithmNotAllowed;
    const key = await known.usable.for(algorithm);
    return key === undefined ? unavailable : { outcome: "found", keys: [key] };
  }

  #currentKeys(kid: string, nowMs: number): readonly VerificationKey[] {
    const { keys, fetchedAtMs } = this.#known;
    if (elapsed(fetchedAtMs, limits.keySetStaleMs, nowMs)) return [];
    return keys.filter((key) => key.kid === kid);
  }

  #needsFetch(kid: string, nowMs: number): boolean {
    const isFresh = !elapsed(this.#known.fetchedAtMs, limits.keySetFreshMs, nowMs);
    if (isFresh && this.#currentKeys(kid, nowMs).length > 0) return false;
    const pauseMs = isFresh ? limits.keySetRefetchMs : limits.keySetRetryMs;
    return this.#inFlight !== undefined || elapsed(this.#attemptedAtMs, pauseMs, nowMs);
  }

  /** Fetches for all waiting requests; true if the fetch succeeded. */
  async #fetchAt(nowMs: number): Promise<boolean> {
    const inFlight: FetchInFlight = { waiting: [] };
    this.#inFlight = inFlight;
    this.#attemptedAtMs = nowMs;
    const fetched = await this.#fetchUsable();
    if (fetched.outcome === "keys") {
      this.#known = { keys: fetched.keys, fetchedAtMs: nowMs };
    } else {
      console.error(`the JWKS${this.#of} can't be fetched: ${fetched.reason}`);
    }
    if (this.#inFlight === inFlight) this.#inFlight = undefined;
    for (const wake of inFlight.waiting) wake(fetched.outcome === "keys");
    return fetched.outcome === "keys";
  }

  /** Fetches a set with at least one usable key: a set without one must not replace a good one. */
  async #fetchUsable(): Promise<UsableKeys> {
    const fetched = await this.#fetch();
    if (fetched.outcome === "bad") return fetched;
    const keys = fetched.keys.map(toKnownKey);
    for (const { algorithms, usable } of keys) {
      for (const algorithm of algorithms) {
        if ((await usable.for(algorithm)) !== undefined) return { outcome: "keys", keys };
      }
    }
    return { outcome: "bad", reason: "the JWKS has no usable key" };
  }

  /** Waits for the fetch of another request; true if that fetch succeeded. */
  async #awaitInFlight(): Promise<boolean> {
    const inFlight = this.#inFlight;
    if (inFlight === undefined) return false;
    const { promise, resolve } = Promise.withResolvers<boolean | "overdue">();
    inFlight.waiting.push(resolve);
    const timer = setTimeout(() => resolve("overdue"), limits.keySetWaitMs);
    const fetched = await promise;
    clearTimeout(timer);
    if (fetched !== "overdue") return fetched;
    if (this.#inFlight === inFlight) {
      this.#inFlight = undefined;
      this.#attemptedAtMs = Number.NEGATIVE_INFINITY;
    }
    return false;
  }
}

type UsableKeys =
  | { readonly outcome: "keys"; readonly keys: readonly VerificationKey[] }
  | { readonly outcome: "bad"; readonly reason: string };

interface KnownKeys {
  readonly keys: readonly VerificationKey[];
  readonly fetchedAtMs: number;
}

interface VerificationKey {
  readonly kid: string;
  readonly algorithms: ReadonlySet<TokenAlgorithm>;
  readonly usable: UsableKey;
}

interface FetchInFlight {
  /** Called with whether the fetch succeeded, once for each waiting request. */
  readonly waiting: ((fetched: boolean) => void)[];
}

function toKnownKey({ kid, algorithms, jwk }: SetKey): VerificationKey {
  return {
    kid,
    algorithms: new Set(algorithms),
    usable: new UsableKey("a key of the JWKS", (algorithm) => importJWK({ ...jwk }, algorithm)),
  };
}

const unavailable: FoundKeys = { outcome: "unavailable" };

/**
 * Fetches a JWKS, in up to two attempts of a second each (rule A9). Redirects aren't followed, so that the URL in the
 * configuration alone determines whose keys are trusted. The response is read only up to its limit.
 *
 * @param url from the configuration
 * @returns never throws; the reason of a failure quotes neither the URL nor the response
 */
export async function fetchKeySet(url: string): Promise<ParsedKeySet> {
  const first = await attempt(url);
  return first.outcome === "keys" ? first : attempt(url);
}

async function attempt(url: string): Promise<ParsedKeySet> {
  const abortion = new AbortController();
  const timer = setTimeout(() => abortion.abort(), limits.keySetAttemptMs);
  try {
    const response = await fetch(url, {
      headers: { Accept: "application/json" },
      redirect: "manual",
      signal: abortion.signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { outcome: "bad", reason: `the response has status ${response.status}` };
    }
    const bytes = await boundedBytes(response.body, limits.keySetBytesMax);
    if (bytes === undefined) return { outcome: "bad", reason: "the response is too large" };
    const text = utf8Text(bytes);
    return text === undefined ? { outcome: "bad", reason: unreadable } : parseKeySet(text);
  } catch {
    const reason = abortion.signal.aborted ? "the request timed out" : unreadable;
    return { outcome: "bad", reason };
  } finally {
    clearTimeout(timer);
  }
}

const unreadable = "there is no readable response";
