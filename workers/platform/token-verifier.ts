import {
  compactVerify,
  type CompactVerifyResult,
  decodeProtectedHeader,
  errors,
  type ProtectedHeaderParameters,
} from "jose";
import type { ConnectionVerdict, SubscriptionVerdict, Verdict } from "../../src/access/claims.ts";
import { parseConnectionClaims, parseSubscriptionClaims } from "../../src/access/parse-claims.ts";
import { parseTokenAlgorithm, type TokenAlgorithm } from "../../src/access/keys.ts";
import type { ClientConfig, TokenConfig } from "../../src/config/config.ts";
import { limits } from "../../src/limits.ts";
import { fetchKeySet, KeySet } from "./key-set.ts";
import { StaticKeys, type TokenSecrets } from "./static-keys.ts";
import { algorithmNotAllowed, type TokenKeys } from "./token-keys.ts";

/** Verifies all tokens, for the edge and for the objects (rule A2). It caches the keys that it fetches (rule A9). */
export class TokenVerifier {
  readonly #connection: TokenPolicy;
  readonly #subscription: TokenPolicy;
  readonly #insecure: boolean;

  constructor(
    client: Pick<ClientConfig, "token" | "subscriptionToken" | "insecure">,
    secrets: VerifierSecrets,
  ) {
    const { token, subscriptionToken } = client;
    this.#insecure = client.insecure;
    this.#connection = policyOf(token, secrets.token);
    this.#subscription =
      subscriptionToken === undefined
        ? this.#connection
        : policyOf(subscriptionToken, secrets.subscriptionToken);
  }

  /**
   * Verifies the signature of a connection token and parses its claims (docs/protocol.md 5.1).
   *
   * @param nowMs milliseconds since 1970
   */
  async connection(token: string, nowMs: number): Promise<ConnectionVerdict> {
    const { keys, rules } = this.#connection;
    const verdict = await verify(token, keys, nowMs, (payload) =>
      parseConnectionClaims(payload, rules, nowMs),
    );
    if (!this.#insecure || verdict.outcome !== "verified") return verdict;
    // A connection has no end in insecure mode (rule A11).
    return { ...verdict, claims: { ...verdict.claims, expireAtSeconds: 0 } };
  }

  /** Verifies the signature of a subscription token and parses its claims (docs/protocol.md 5.2). */
  subscription(token: string, nowMs: number): Promise<SubscriptionVerdict> {
    const { keys, rules } = this.#subscription;
    return verify(token, keys, nowMs, (payload) => parseSubscriptionClaims(payload, rules, nowMs));
  }
}

/**
 * The secrets of both kinds of token; those of subscription tokens are used only if the configuration has a section for
 * them.
 */
export interface VerifierSecrets {
  readonly token: TokenSecrets;
  readonly subscriptionToken: TokenSecrets;
}

interface TokenPolicy {
  readonly keys: TokenKeys;
  readonly rules: TokenConfig;
}

function policyOf(rules: TokenConfig, secrets: TokenSecrets): TokenPolicy {
  const { jwksPublicEndpoint: url } = rules;
  const keys =
    url === undefined ? new StaticKeys(rules, secrets) : new KeySet(() => fetchKeySet(url));
  return { keys, rules };
}

async function verify<Claims>(
  token: string,
  keys: TokenKeys,
  nowMs: number,
  parse: (payload: string) => Verdict<Claims>,
): Promise<Verdict<Claims>> {
  if (token.length > limits.tokenBytesMax) return invalid("the token is too long");
  if (!tokenShape.test(token)) return invalid("the token is malformed");
  const header = readHeader(token);
  if (header === undefined) return invalid("the token is malformed");
  const algorithm = parseTokenAlgorithm(header.alg);
  if (algorithm === undefined) return invalid(algorithmNotAllowed.reason);
  const kid = typeof header.kid === "string" && header.kid !== "" ? header.kid : undefined;
  const found = await keys.find(algorithm, kid, nowMs);
  if (found.outcome === "unavailable") return found;
  if (found.outcome === "unknown") return invalid(found.reason);
  try {
    const { payload, protectedHeader } = await verifyWith(token, algorithm, found.keys);
    // A token whose payload isn't encoded is not a JWT (RFC 7797 section 7).
    if (protectedHeader.b64 === false) return invalid("the payload is not base64url-encoded");
    return parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload));
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed)
      return invalid(keys.mismatch(algorithm));
    if (error instanceof errors.JOSEError) return invalid(error.code);
    if (error instanceof TypeError) return invalid("the token is malformed");
    throw error;
  }
}

/**
 * Three parts in base64url without padding (RFC 7515 section 2). In a signature `jose` also takes padding and white
 * space, so that one token could be written in many ways.
 */
const tokenShape = /^[-\w]+\.[-\w]*\.[-\w]*$/;

/** The header of a token; undefined if the token is malformed. */
function readHeader(token: string): ProtectedHeaderParameters | undefined {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined; // Its only error says that the token is malformed.
  }
}

/**
 * Tries the keys in turn. Only the algorithm for which the keys were found is allowed, so that neither `none` nor a
 * public key used as an HMAC secret is accepted (rule A2).
 */
async function verifyWith(
  token: string,
  algorithm: TokenAlgorithm,
  keys: readonly CryptoKey[],
): Promise<CompactVerifyResult> {
  let failure: errors.JWSSignatureVerificationFailed | undefined;
  for (const key of keys) {
    try {
      return await compactVerify(token, key, { algorithms: [algorithm] });
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      failure = error;
    }
  }
  throw failure ?? new errors.JWSSignatureVerificationFailed();
}

function invalid(reason: string): { readonly outcome: "invalid"; readonly reason: string } {
  return { outcome: "invalid", reason };
}
