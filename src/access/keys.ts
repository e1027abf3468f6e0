/**
 * The algorithms and keys that verify tokens (docs/protocol.md 5.3): which algorithms belong to which kind of key (rule
 * A2), and the parsing of PEM keys and of key sets (rule A9). Signatures are verified in `workers/platform`.
 */
import { limits } from "../limits.ts";
import { parseJsonObject } from "../protocol/json/text.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../protocol/wire-value.ts";

/** An algorithm that signs tokens: with a shared secret, or with the private key of a public key. */
export type TokenAlgorithm = SecretAlgorithm | PublicKeyAlgorithm;
type SecretAlgorithm = (typeof secretAlgorithms)[number];
type PublicKeyAlgorithm = (typeof algorithmsByKey)[KeyKind][number];

/** The kind of a public key: its type, or its curve if the type has several. */
export type KeyKind = keyof typeof algorithmsByKey;

const secretAlgorithms = ["HS256", "HS384", "HS512"] as const;

/**
 * The kind of a key determines its algorithms, and no list has algorithms of two kinds of key. So a public key, which
 * is no secret, can't be used as an HMAC secret (rule A2).
 */
const algorithmsByKey = {
  RSA: ["RS256", "RS384", "RS512"],
  "P-256": ["ES256"],
  "P-384": ["ES384"],
  "P-521": ["ES512"],
  Ed25519: ["EdDSA"],
} as const;

/** Whether tokens with this algorithm are verified with a secret. */
export function isSecretAlgorithm(algorithm: string): algorithm is SecretAlgorithm {
  return secretAlgorithms.some((one) => one === algorithm);
}

/** The algorithms whose signatures a key of this kind verifies. */
export function algorithmsOf(kind: KeyKind): readonly PublicKeyAlgorithm[] {
  return algorithmsByKey[kind];
}

/** Parses the algorithm in a token's header; undefined if it isn't exactly one of the supported ones. */
export function parseTokenAlgorithm(name: unknown): TokenAlgorithm | undefined {
  return allAlgorithms.find((algorithm) => algorithm === name);
}

const allAlgorithms: readonly TokenAlgorithm[] = [
  ...secretAlgorithms,
  ...Object.values(algorithmsByKey).flat(),
];

/** A public key from the configuration, as SPKI in PEM. It is imported, and thereby checked, when it is first used. */
export interface PublicKey {
  readonly kind: KeyKind;
  readonly pem: string;
}

/**
 * Recognises a public key in PEM by its armour and by the algorithm identifier in its first bytes (RFC 5280 section
 * 4.1.2.7).
 *
 * @returns undefined for everything else: private keys, certificates, PKCS #1 keys, keys of other kinds
 */
export function parsePublicKey(text: string): PublicKey | undefined {
  const pem = text.trim();
  const base64 = armour.exec(pem)?.[1]?.replaceAll(/\s/g, "");
  const bytes = base64 === undefined ? undefined : decodeBase64(base64);
  if (bytes === undefined || bytes.charCodeAt(0) !== sequence) return undefined;
  // The length takes one byte, or one byte that says how many follow.
  const length = bytes.charCodeAt(1);
  const identifier = bytes.slice(2 + (length < 0x80 ? 0 : length - 0x80));
  const kind = kinds.find(([, start]) => identifier.startsWith(start))?.[0];
  return kind === undefined ? undefined : { kind, pem };
}

function decodeBase64(text: string): string | undefined {
  try {
    return atob(text);
  } catch {
    return undefined; // Its only error says that the text is not base64.
  }
}

const armour = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/;
const sequence = 0x30;

/** The algorithm identifiers of RFC 3279, RFC 5480 and RFC 8410 in DER, which has exactly one form for each. */
const kinds: readonly (readonly [KeyKind, string])[] = [
  ["RSA", "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00"],
  ["P-256", "\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"],
  ["P-384", "\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22"],
  ["P-521", "\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23"],
  ["Ed25519", "\x30\x05\x06\x03\x2b\x65\x70"],
];

/** A public key of a JWKS: its `kid`, its algorithms, and the members of the JWK that importing it needs. */
export interface SetKey {
  readonly kid: string;
  readonly algorithms: readonly PublicKeyAlgorithm[];
  readonly jwk: PublicJwk;
}

/** The public members of a JWK (RFC 7518 section 6, RFC 8037 section 2), in base64url. */
type PublicJwk =
  | { readonly kty: "RSA"; readonly n: string; readonly e: string }
  | { readonly kty: "EC"; readonly crv: string; readonly x: string; readonly y: string }
  | { readonly kty: "OKP"; readonly crv: string; readonly x: string };

/** The keys of a JWKS, or why it can't be used. */
export type ParsedKeySet =
  | { readonly outcome: "keys"; readonly keys: readonly SetKey[] }
  | { readonly outcome: "bad"; readonly reason: string };

/**
 * Parses a JWKS (RFC 7517). Keys for other uses, keys of other types, keys without a `kid`, and secrets are ignored, as
 * section 5 requires. A set with too many keys is refused (rule B2). A set without a usable key is refused too:
 * accepting it would discard good keys because of the provider's fault.
 */
export function parseKeySet(text: string): ParsedKeySet {
  const keys = parseJsonObject(text)?.fields["keys"];
  if (keys === undefined || !isJsonArray(keys))
    return { outcome: "bad", reason: "the document is not a JWKS" };
  if (keys.length > limits.keySetKeysMax)
    return { outcome: "bad", reason: "the JWKS has too many keys" };
  const usable = keys.flatMap(parseSetKey);
  if (usable.length === 0) return { outcome: "bad", reason: "the JWKS has no usable key" };
  return { outcome: "keys", keys: usable };
}

function parseSetKey(value: JsonValue): readonly SetKey[] {
  if (!isJsonObject(value)) return [];
  const { kid, use, alg, key_ops: operations } = value;
  if (typeof kid !== "string" || kid === "") return [];
  if (use !== undefined && use !== "sig") return [];
  if (operations !== undefined && !(isJsonArray(operations) && operations.includes("verify")))
    return [];
  const found = parsePublicJwk(value);
  if (found === undefined) return [];
  const algorithms = algorithmsOf(found.kind).filter((one) => alg === undefined || alg === one);
  return algorithms.length === 0 ? [] : [{ kid, algorithms, jwk: found.jwk }];
}

interface FoundJwk {
  readonly kind: KeyKind;
  readonly jwk: PublicJwk;
}

function parsePublicJwk({ kty, crv, n, e, x, y }: JsonObject): FoundJwk | undefined {
  if (kty === "RSA" && typeof n === "string" && typeof e === "string")
    return { kind: "RSA", jwk: { kty, n, e } };
  if (kty === "EC" && isCurve(crv) && typeof x === "string" && typeof y === "string")
    return { kind: crv, jwk: { kty, crv, x, y } };
  if (kty === "OKP" && crv === "Ed25519" && typeof x === "string")
    return { kind: crv, jwk: { kty, crv, x } };
  return undefined;
}

function isCurve(crv: JsonValue | undefined): crv is "P-256" | "P-384" | "P-521" {
  return crv === "P-256" || crv === "P-384" || crv === "P-521";
}
