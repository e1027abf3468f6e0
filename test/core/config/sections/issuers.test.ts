import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { compiled } from "../../../support/compiled.ts";
import { configOf, problemsOf } from "../parsed.ts";

const pem = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" });
const rules = { publicKeys: [], hmacPreviousSecretKeyValidUntilSeconds: 0, userIdClaim: "sub" };
const shop = { issuer: "https://shop.example/", hmac_secret: "TOKEN_HMAC_SECRET_KEY_SHOP" };
const jwks = { issuer: "https://id.example", jwks_public_endpoint: "https://id.example/keys" };

const issuersOf = (...issuers: readonly object[]) =>
  configOf({ client: { token: { issuers } } }).client.token.issuers;

/** The problems of these issuers, each as it goes on after the path of the list. */
const problemsWith = (...issuers: readonly object[]) =>
  problemsOf({ client: { token: { issuers } } });

describe("the issuers of the token section", () => {
  it("[A15] have keys and rules of their own", () => {
    const more = {
      audience: "us",
      audience_regex: "^us$",
      user_id_claim: "id",
      hmac_previous_secret_key_valid_until: 7,
      eddsa_public_key: pem,
    };
    expect(issuersOf({ ...shop, ...more }, jwks)).toStrictEqual([
      {
        publicKeys: [{ kind: "Ed25519", pem: pem.trim() }],
        hmacPreviousSecretKeyValidUntilSeconds: 7,
        userIdClaim: "id",
        audience: "us",
        audienceRegex: compiled("^us$"),
        issuer: "https://shop.example/",
        hmacSecret: "TOKEN_HMAC_SECRET_KEY_SHOP",
      },
      { ...rules, jwksPublicEndpoint: "https://id.example/keys", issuer: "https://id.example" },
    ]);
  });

  it("[A15] may be those of subscription tokens alone, which have to be enabled", () => {
    const section = { issuers: [{ issuer: "a", eddsa_public_key: pem }] };
    const enabled = configOf({ client: { subscription_token: { enabled: true, ...section } } });
    expect(enabled.client.token.issuers).toStrictEqual([]);
    expect(enabled.client.subscriptionToken?.issuers).toHaveLength(1);
    expect(problemsOf({ client: { subscription_token: section } })).toStrictEqual([
      "client.subscription_token.enabled must be true for the other keys of this section to have an effect",
    ]);
  });

  it.each([
    [{ audience: "us" }],
    [{ issuer: "house" }],
    [{ issuer_regex: "house$" }],
    [{ user_id_claim: "id" }],
    [{ eddsa_public_key: pem }],
    [{ jwks_public_endpoint: "https://example.com" }],
    [{ hmac_previous_secret_key_valid_until: 1 }],
  ])("[A15] stand alone: not with %j of the section", (own) => {
    expect(problemsOf({ client: { token: { ...own, issuers: [shop] } } })).toStrictEqual([
      "client.token.issuers can't be combined with the other keys of this section: write them into each issuer",
    ]);
  });

  const path = `client.token.issuers[0] ("https://shop.example/")`;
  it.each<[object, string]>([
    [{ issuer: undefined }, "client.token.issuers[0].issuer is missing"],
    [{ issuer: "" }, "client.token.issuers[0].issuer is missing"],
    [
      { hmac_secret: undefined },
      `${path}.issuer has no key: set hmac_secret, a public key or jwks_public_endpoint`,
    ],
    [
      { jwks_public_endpoint: "https://shop.example/keys" },
      `${path}.hmac_secret can't be combined with jwks_public_endpoint`,
    ],
    [
      { hmac_secret: "", hmac_previous_secret_key_valid_until: 7, eddsa_public_key: pem },
      `${path}.hmac_previous_secret_key_valid_until requires hmac_secret`,
    ],
    [
      { hmac_secret_key: "hunter2" },
      `${path}.hmac_secret_key is a secret: write the name of the Worker's secret into hmac_secret instead`,
    ],
    [
      { hmac_previous_secret_key: "hunter2" },
      `${path}.hmac_previous_secret_key is a secret: put it into the secret that hmac_secret names, with _PREVIOUS`,
    ],
    [{ issuer_regex: "shop" }, `${path}.issuer_regex is unknown`],
  ])("[A15] refuses %j", (changed, problem) => {
    expect(problemsWith({ ...shop, ...changed })).toStrictEqual([problem]);
  });

  it.each([
    "hunter2-hunter2-hunter2",
    "TOKEN_HMAC_SECRET_KEY",
    "TOKEN_HMAC_SECRET_KEY_PREVIOUS",
    "TOKEN_HMAC_SECRET_KEY_SHOP_PREVIOUS",
    "TOKEN_HMAC_PREVIOUS_SECRET_KEY",
    "API_KEY_SHOP",
    "CHANNELS",
  ])("[A15] [A7] refuses %s as the name of a secret, and doesn't quote it", (name) => {
    expect(problemsWith({ ...shop, hmac_secret: name })).toStrictEqual([
      `${path}.hmac_secret is not the name of a secret: TOKEN_HMAC_SECRET_KEY_ and at most 64 of A-Z, 0-9 and _, not ending with _PREVIOUS`,
    ]);
  });

  it("[A15] refuses an issuer that is listed twice", () => {
    expect(problemsWith(shop, { ...jwks, issuer: shop.issuer })).toStrictEqual([
      `client.token.issuers[1] ("${shop.issuer}").issuer is already the issuer of ${path}`,
    ]);
  });

  it("[B1] [A15] refuses more issuers than limits.tokenIssuersMax", () => {
    const many = Array.from({ length: limits.tokenIssuersMax + 1 }, (_, index) => ({
      ...shop,
      issuer: `issuer ${index}`,
    }));
    expect(problemsWith(...many)).toStrictEqual([
      `client.token.issuers has more than ${limits.tokenIssuersMax} entries`,
    ]);
    expect(issuersOf(...many.slice(1))).toHaveLength(limits.tokenIssuersMax);
  });
});
