import { describe, expect, it } from "vitest";
import { parseKeySet } from "../../../src/access/keys.ts";
import { limits } from "../../../src/limits.ts";

const rsa = { kty: "RSA", n: "AQAB", e: "AQAB" };
const ec = { kty: "EC", crv: "P-256", x: "AA", y: "AA" };
const okp = { kty: "OKP", crv: "Ed25519", x: "AA" };

const noUsableKey = { outcome: "bad", reason: "the JWKS has no usable key" };

/** The keys of a JWKS with these entries. */
function keysOf(...entries: unknown[]) {
  const parsed = parseKeySet(JSON.stringify({ keys: entries }));
  return parsed.outcome === "keys" ? parsed.keys : parsed;
}

describe("a JWKS", () => {
  it.each<[object, readonly string[]]>([
    [rsa, ["RS256", "RS384", "RS512"]],
    [{ ...rsa, alg: "RS384" }, ["RS384"]],
    [ec, ["ES256"]],
    [{ ...ec, crv: "P-384" }, ["ES384"]],
    [{ ...ec, crv: "P-521", alg: "ES512" }, ["ES512"]],
    [okp, ["EdDSA"]],
    [{ ...okp, alg: "EdDSA" }, ["EdDSA"]],
  ])("[A2] has for %j exactly the algorithms of its kind", (jwk, algorithms) => {
    const { alg: _, ...bare } = { alg: "", ...jwk };
    expect(keysOf({ ...jwk, kid: "k" })).toStrictEqual([{ kid: "k", algorithms, jwk: bare }]);
  });

  it("[A9] may say more of a key, which counts for nothing", () => {
    const more = { use: "sig", key_ops: ["sign", "verify"], x5c: ["…"], ext: false, d: "private" };
    expect(keysOf({ ...okp, kid: "k", ...more })).toStrictEqual(keysOf({ ...okp, kid: "k" }));
  });

  it("[A9] may have other things beside its keys", () => {
    const keys = [{ ...okp, kid: "k" }];
    expect(parseKeySet(JSON.stringify({ keys, more: 1 }))).toStrictEqual(
      parseKeySet(JSON.stringify({ keys })),
    );
  });

  it("[A9] must have a key", () => {
    expect(keysOf()).toStrictEqual(noUsableKey);
  });

  it.each<[string, unknown]>([
    ["a secret", { kty: "oct", k: "c2VjcmV0", kid: "k", alg: "HS256" }],
    ["a key said to be for HMAC", { ...rsa, kid: "k", alg: "HS256" }],
    ["a key said to be for nothing", { ...rsa, kid: "k", alg: "none" }],
    ["a key said to be for another kind of key", { ...rsa, kid: "k", alg: "ES256" }],
    ["a key for encryption", { ...rsa, kid: "k", use: "enc" }],
    ["a key that isn't for verifying", { ...rsa, kid: "k", key_ops: ["encrypt"] }],
    ["a key whose uses are no list", { ...rsa, kid: "k", key_ops: "verify" }],
    ["a key without a name", rsa],
    ["a key with an empty name", { ...rsa, kid: "" }],
    ["a key with a number for a name", { ...rsa, kid: 1 }],
    ["another curve", { ...ec, kid: "k", crv: "secp256k1" }],
    ["a key for key agreement", { ...okp, kid: "k", crv: "X25519" }],
    ["another type", { kty: "AKP", alg: "ML-DSA-44", pub: "AA", kid: "k" }],
    ["half a key", { kty: "RSA", n: "AQAB", kid: "k" }],
    ["a key of numbers", { kty: "OKP", crv: "Ed25519", x: 1, kid: "k" }],
    ["what is no object", null],
    ["a list", [rsa]],
  ])("[A2] is taken without %s", (_, entry) => {
    expect(keysOf(entry, { ...okp, kid: "good" })).toMatchObject([{ kid: "good" }]);
    expect(keysOf(entry)).toStrictEqual(noUsableKey);
  });

  it("[B1] may have as many keys as the limit, and not more", () => {
    const entries = Array.from({ length: limits.keySetKeysMax }, (_, index) => ({
      ...okp,
      kid: `${index}`,
    }));
    expect(keysOf(...entries)).toHaveLength(limits.keySetKeysMax);
    expect(keysOf(...entries, null)).toStrictEqual({
      outcome: "bad",
      reason: "the JWKS has too many keys",
    });
  });

  it.each(["", "{", "null", "[]", `"keys"`, "{}", `{"keys":null}`, `{"keys":{}}`, `{"keys":"x"}`])(
    "[A9] isn't %j",
    (text) => {
      expect(parseKeySet(text)).toStrictEqual({
        outcome: "bad",
        reason: "the document is not a JWKS",
      });
    },
  );
});
