import { limits } from "../limits.ts";
import { parseJsonText } from "../protocol/json/text.ts";
import {
  isJsonArray,
  isJsonObject,
  jsonValue,
  type JsonObject,
  type JsonValue,
} from "../protocol/json-value.ts";
import { algorithmsOf, type KeyKind, type PublicKeyAlgorithm } from "./keys.ts";

/** A public key of a JWKS: what it is called, what it verifies, and the key itself without all else its entry says. */
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

/** The keys of a JWKS, or why it is none. */
export type ParsedKeySet =
  | { readonly outcome: "keys"; readonly keys: readonly SetKey[] }
  | { readonly outcome: "bad"; readonly reason: string };

/**
 * Reads a JWKS (RFC 7517). Keys for other uses, of other types, without a `kid`, and secrets are left out, as section 5
 * asks; too many keys are refused (rule B2). A set of which nothing is left is bad: whoever believed it would drop
 * good keys for a fault of the provider's.
 */
export function parseKeySet(text: string): ParsedKeySet {
  const json = parseJsonText(text);
  const value = json === undefined ? undefined : jsonValue(json);
  const keys = value !== undefined && isJsonObject(value) ? value["keys"] : undefined;
  if (keys === undefined || !isJsonArray(keys)) return { outcome: "bad", reason: "it is no JWKS" };
  if (keys.length > limits.keySetKeysMax) return { outcome: "bad", reason: "it has too many keys" };
  const usable = keys.flatMap(parseSetKey);
  if (usable.length === 0) return { outcome: "bad", reason: "it has no usable key" };
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
