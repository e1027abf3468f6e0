import {
  compactVerify,
  type CompactVerifyResult,
  decodeProtectedHeader,
  errors,
  type ProtectedHeaderParameters,
} from "jose";
import {
  type ConnectionVerdict,
  type SubscriptionVerdict,
  type TokenOutcome,
  withoutMeta,
} from "../../src/access/claims.ts";
import {
  parseConnectionClaims,
  parseSubscriptionClaims,
  unverifiedIssuer,
} from "../../src/access/parse-claims.ts";
import { previousName, type Secrets } from "../../src/access/secrets.ts";
import { parseTokenAlgorithm, type TokenAlgorithm } from "../../src/access/keys.ts";
import type { ClientConfig, TokenConfig, TokenRules } from "../../src/config/config.ts";
import { limits } from "../../src/limits.ts";
import type { TrackVerdict } from "../../src/access/key-signature.ts";
import type { TrackBatch } from "../../src/protocol/command.ts";
import { fetchKeySet, KeySet } from "./key-set.ts";
import { StaticKeys, type TokenSecrets } from "./static-keys.ts";
import { algorithmNotAllowed, type TokenKeys } from "./token-keys.ts";
import { type TrackSecrets, TrackSignatures } from "./key-signatures.ts";

/** Verifies all tokens, for the edge and for the objects (rule A2). It caches the keys that it fetches (rule A9). */
export class TokenVerifier {
  readonly #connection: TokenPolicies;
  readonly #subscription: TokenPolicies;
  readonly #insecure: boolean;
  readonly #keepsMeta: boolean;
  readonly #tracks: TrackSignatures;
  /** Of all issuers and both kinds of token: the keys tell them apart. */
  readonly #recent = new RecentTokens();

  /** @param keepsMeta whether a hook gets the metadata of connections; without one, sessions have no use for it */
  constructor(
    client: Pick<ClientConfig, "token" | "subscriptionToken" | "insecure">,
    secrets: VerifierSecrets,
    keepsMeta = false,
  ) {
    const { token, subscriptionToken } = client;
    this.#insecure = client.insecure;
    this.#keepsMeta = keepsMeta;
    this.#tracks = new TrackSignatures(secrets.sharedPoll ?? noTrackSecrets);
    this.#connection = policiesOf(token, secrets.token, secrets.issuers, "client.token");
    this.#subscription =
      subscriptionToken === undefined
        ? this.#connection
        : policiesOf(
            subscriptionToken,
            secrets.subscriptionToken,
            secrets.issuers,
            "client.subscription_token",
          );
  }

  /**
   * Verifies the signature of a connection token and parses its claims (docs/protocol.md 5.1).
   *
   * @param nowMs milliseconds since 1970
   */
  async connection(token: string, nowMs: number): Promise<ConnectionVerdict> {
    const verdict = await verify(
      { token, policies: this.#connection, recent: this.#recent },
      nowMs,
      parseConnectionClaims,
    );
    if (verdict.outcome !== "verified") return verdict;
    const claims = this.#keepsMeta ? verdict.claims : withoutMeta(verdict.claims);
    // A connection has no end in insecure mode (rule A11).
    return { ...verdict, claims: this.#insecure ? { ...claims, expireAtSeconds: 0 } : claims };
  }

  /** Verifies the signature of a subscription token and parses its claims (docs/protocol.md 5.2). */
  subscription(token: string, nowMs: number): Promise<SubscriptionVerdict> {
    return verify(
      { token, policies: this.#subscription, recent: this.#recent },
      nowMs,
      parseSubscriptionClaims,
    );
  }

  /** Verifies the signatures of keys that a user wants to track on a channel (docs/protocol.md 3.5). */
  tracks(
    batches: readonly TrackBatch[],
    user: string,
    channel: string,
    nowMs: number,
  ): Promise<readonly TrackVerdict[]> {
    return this.#tracks.verify(batches, user, channel, nowMs);
  }
}

const noTrackSecrets: TrackSecrets = { current: "", previous: "", previousValidUntilSeconds: 0 };

/**
 * The secrets of both kinds of token; those of subscription tokens are used only if the configuration has a section for
 * them.
 */
export interface VerifierSecrets {
  readonly token: TokenSecrets;
  readonly subscriptionToken: TokenSecrets;
  /** Those that the issuers name, and their previous ones. */
  readonly issuers: Secrets;
  /** Those that sign keys of shared polls; absent: none. */
  readonly sharedPoll?: TrackSecrets;
}

/** The keys and rules for one kind of token. */
type TokenPolicies =
  | { readonly kind: "single"; readonly policy: TokenPolicy }
  /** Each issuer has its own, so that no key of one issuer verifies a token of another one (rule A15). */
  | {
      readonly kind: "issuers";
      readonly byIssuer: ReadonlyMap<string, TokenPolicy>;
      /** The option that lists the issuers. */
      readonly setting: string;
    };

interface TokenPolicy {
  readonly keys: TokenKeys;
  readonly rules: TokenRules;
}

function policiesOf(
  config: TokenConfig,
  secrets: TokenSecrets,
  ofIssuers: Secrets,
  section: string,
): TokenPolicies {
  const { issuers } = config;
  if (issuers.length === 0) return { kind: "single", policy: policyOf(config, secrets) };
  const setting = `${section}.issuers`;
  const byIssuer = issuers.map((issuer, index) => {
    const { hmacSecret: name = "" } = issuer;
    const current = ofIssuers[name] ?? "";
    const own = { name, current, previous: ofIssuers[previousName(name)] ?? "" };
    return [issuer.issuer, policyOf(issuer, own, ` of ${setting}[${index}]`)] as const;
  });
  return { kind: "issuers", byIssuer: new Map(byIssuer), setting };
}

function policyOf(rules: TokenRules, secrets: TokenSecrets, of = ""): TokenPolicy {
  const { jwksPublicEndpoint: url } = rules;
  const keys =
    url === undefined ? new StaticKeys(rules, secrets, of) : new KeySet(() => fetchKeySet(url), of);
  return { keys, rules };
}

/** A token that somebody brings, and what it is verified with. */
interface OfferedToken {
  readonly token: string;
  readonly policies: TokenPolicies;
  readonly recent: RecentTokens;
}

type ChosenPolicy =
  | { readonly outcome: "chosen"; readonly policy: TokenPolicy }
  | { readonly outcome: "invalid"; readonly reason: string };

/** Chooses the policy for a token of the right shape. */
function choosePolicy(token: string, policies: TokenPolicies): ChosenPolicy {
  if (policies.kind === "single") return { outcome: "chosen", policy: policies.policy };
  const { byIssuer, setting } = policies;
  const issuer = unverifiedIssuer(token);
  if (issuer === undefined) return invalid(`the "iss" claim is missing, and ${setting} is set`);
  const policy = byIssuer.get(issuer);
  return policy === undefined
    ? invalid(`${setting} doesn't list the "iss" claim`)
    : { outcome: "chosen", policy };
}

async function verify<Claims>(
  { token, policies, recent }: OfferedToken,
  nowMs: number,
  parse: (payload: string, rules: TokenRules, nowMs: number) => TokenOutcome<Claims>,
): Promise<TokenOutcome<Claims>> {
  if (token.length > limits.tokenBytesMax) return invalid("the token is too long");
  if (!tokenShape.test(token)) return invalid("the token is malformed");
  const header = readHeader(token);
  if (header === undefined) return invalid("the token is malformed");
  const algorithm = parseTokenAlgorithm(header.alg);
  if (algorithm === undefined) return invalid(algorithmNotAllowed.reason);
  const chosen = choosePolicy(token, policies);
  if (chosen.outcome === "invalid") return chosen;
  const { keys, rules } = chosen.policy;
  const kid = typeof header.kid === "string" && header.kid !== "" ? header.kid : undefined;
  const found = await keys.keysFor(algorithm, kid, nowMs);
  if (found.outcome === "unavailable") return found;
  if (found.outcome === "unknown") return invalid(found.reason);
  const known = recent.payload(token, found.keys);
  if (known !== undefined) return parse(known, rules, nowMs);
  try {
    const { payload, protectedHeader, key } = await verifyWith(token, algorithm, found.keys);
    // A token whose payload isn't encoded is not a JWT (RFC 7797 section 7).
    if (protectedHeader.b64 === false) return invalid("the payload is not base64url-encoded");
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    recent.note(token, { key, payload: text });
    return parse(text, rules, nowMs);
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
): Promise<CompactVerifyResult & { readonly key: CryptoKey }> {
  let failure: errors.JWSSignatureVerificationFailed | undefined;
  for (const key of keys) {
    try {
      return { ...(await compactVerify(token, key, { algorithms: [algorithm] })), key };
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

/**
 * The tokens whose signatures were verified last, so that clients that return with the same token cost no verification
 * (rule A37). An entry means only that a key has signed these bytes. The caller checks before whether the key is in
 * force, and checks the claims again.
 */
class RecentTokens {
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
