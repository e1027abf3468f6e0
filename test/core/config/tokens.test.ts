import { compiled } from "../../support/compiled.ts";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { TokenConfig } from "../../../src/config/config.ts";
import { configOf, problemsOf } from "./parsed.ts";

const tokenOf = (token: object) => configOf({ client: { token } }).client.token;
const tokenProblems = (token: object) => problemsOf({ client: { token } });
const subscriptionTokenOf = (token: object) =>
  configOf({ client: { subscription_token: token } }).client.subscriptionToken;

function pemOf(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" });
}

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed25519 = generateKeyPairSync("ed25519");
const curve = (namedCurve: string) => pemOf(generateKeyPairSync("ec", { namedCurve }).publicKey);
const pems = {
  rsa: pemOf(rsa.publicKey),
  longRsa: pemOf(generateKeyPairSync("rsa", { modulusLength: 4096 }).publicKey),
  p256: curve("P-256"),
  p384: curve("P-384"),
  p521: curve("P-521"),
  ed25519: pemOf(ed25519.publicKey),
};

const nothing: TokenConfig = {
  publicKeys: [],
  hmacPreviousSecretKeyValidUntilSeconds: 0,
  userIdClaim: "sub",
  issuers: [],
};

describe("the token section", () => {
  it("[A2] asks for nothing when it says nothing", () => {
    expect(tokenOf({})).toStrictEqual(nothing);
    const empty = { rsa_public_key: "", jwks_public_endpoint: "", audience: "", issuer_regex: "" };
    expect(tokenOf({ ...empty, user_id_claim: "", hmac_secret_key: "" })).toStrictEqual(nothing);
  });

  it.each<[object, Partial<TokenConfig>]>([
    [{ audience: "us" }, { audience: "us" }],
    [{ audience_regex: "^us-[0-9]+$" }, { audienceRegex: compiled("^us-[0-9]+$") }],
    [{ issuer: "house" }, { issuer: "house" }],
    [{ issuer_regex: "house$" }, { issuerRegex: compiled("house$") }],
    [{ user_id_claim: "https://a.b/id" }, { userIdClaim: "https://a.b/id" }],
    [
      { hmac_previous_secret_key_valid_until: 1_704_240_000 },
      { hmacPreviousSecretKeyValidUntilSeconds: 1_704_240_000 },
    ],
  ])("[A2] takes %j", (token, expected) => {
    expect(tokenOf(token)).toStrictEqual({ ...nothing, ...expected });
  });

  it.each([
    ["rsa_public_key", "RSA", pems.rsa],
    ["rsa_public_key", "RSA", pems.longRsa],
    ["ecdsa_public_key", "P-256", pems.p256],
    ["ecdsa_public_key", "P-384", pems.p384],
    ["ecdsa_public_key", "P-521", pems.p521],
    ["eddsa_public_key", "Ed25519", pems.ed25519],
  ])("[A2] takes for %s a key that is %s", (option, kind, pem) => {
    const key = { kind, pem: pem.trim() };
    for (const text of [pem, pem.trim(), `\n  ${pem}\n`]) {
      expect(tokenOf({ [option]: text }).publicKeys).toStrictEqual([key]);
    }
    const windows = pem.replaceAll("\n", "\r\n");
    expect(tokenOf({ [option]: windows }).publicKeys).toMatchObject([{ kind }]);
  });

  it("[A2] takes a key of each kind at once", () => {
    const { publicKeys } = tokenOf({
      eddsa_public_key: pems.ed25519,
      ecdsa_public_key: pems.p384,
      rsa_public_key: pems.rsa,
    });
    expect(publicKeys.map(({ kind }) => kind)).toStrictEqual(["RSA", "P-384", "Ed25519"]);
  });

  const body = pems.p256.split("\n")[1] ?? "";
  const notKeys: readonly (readonly [string, string])[] = [
    ["a private key", rsa.privateKey.export({ type: "pkcs8", format: "pem" })],
    [
      "a private key called a public one",
      ed25519.privateKey.export({ type: "pkcs8", format: "pem" }).replaceAll("PRIVATE", "PUBLIC"),
    ],
    ["a key in PKCS #1", rsa.publicKey.export({ type: "pkcs1", format: "pem" })],
    ["a key without its armour", body],
    ["a key without its end", pems.p256.replace(/-----END.*/s, "")],
    ["a key within other text", `key: ${pems.p256}`],
    ["two keys", `${pems.p256}${pems.p256}`],
    ["no base64", pems.p256.replace(body, `${body}*`)],
    ["base64 of another length", pems.p256.replace(body, `${body}A`)],
    ["nothing in an armour", "-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----"],
    ["a curve that isn't ours", curve("secp256k1")],
    ["a key for key agreement", pemOf(generateKeyPairSync("x25519").publicKey)],
    ["a secret", "hunter2-hunter2-hunter2"],
  ];
  it.each(notKeys)("[A7] refuses %s for any public key, and quotes nothing of it", (_, text) => {
    for (const option of ["rsa_public_key", "ecdsa_public_key", "eddsa_public_key"]) {
      const [problem = "", ...others] = tokenProblems({ [option]: text });
      expect(others).toStrictEqual([]);
      expect(problem).toMatch(
        new RegExp(
          `^client\\.token\\.${option} is not an? .* in PEM, which begins with -----BEGIN PUBLIC KEY-----$`,
        ),
      );
      expect(problem).not.toMatch(/[A-Za-z0-9+/]{20}|hunter2/);
    }
  });

  it.each([
    ["rsa_public_key", pems.p256],
    ["rsa_public_key", pems.ed25519],
    ["ecdsa_public_key", pems.rsa],
    ["ecdsa_public_key", pems.ed25519],
    ["eddsa_public_key", pems.rsa],
    ["eddsa_public_key", pems.p256],
  ])("[A2] refuses for %s a key of another kind", (option, pem) => {
    expect(tokenProblems({ [option]: pem })).toHaveLength(1);
  });

  it.each([
    "https://example.com",
    "https://example.com/",
    "https://a-b.example.com:8443/realms/x/certs?kind=jwks&x=%20",
    "HTTPS://EXAMPLE.com/keys",
    "https://localhost:8443/keys",
    "https://1.2.3.4.example.com/keys",
    "https://127.0.0.1.x1/keys",
    "https://a_b.xn--p1ai/keys",
    "http://localhost/keys",
    "http://localhost:8080/keys",
    "http://127.0.0.1:8080",
    "http://[::1]:8080/keys",
  ])("[A9] takes the endpoint %s", (url) => {
    expect(tokenOf({ jwks_public_endpoint: url })).toStrictEqual({
      ...nothing,
      jwksPublicEndpoint: url,
    });
  });

  const addressProblem =
    "client.token.jwks_public_endpoint is not an https URL with a host name and without user, password or fragment (http is allowed for localhost only)";
  it.each([
    "http://example.com/keys",
    "http://localhost.example.com/keys",
    "http://localhost@example.com/keys",
    "http://127.0.0.1.example.com",
    "https://user:hunter2@example.com/keys",
    "https://hunter2@example.com/keys",
    "https://example.com\\@attacker.example/keys",
    "https://example.com/keys#fragment",
    "https://example.com/a b",
    "https://example.com/a\\b",
    "https://example.com:port/keys",
    "https:///keys",
    "https:example.com",
    "//example.com/keys",
    "example.com/keys",
    "ftp://example.com/keys",
    "data:application/json,1",
    "https://192.0.2.1/keys",
    "https://127.0.0.1/keys",
    "https://127.1:8443/keys",
    "https://2130706433/keys",
    "https://0x7f000001/keys",
    "https://0x7f.0.0.0x1/keys",
    "https://0x",
    "https://example.1/keys",
    "https://192.0.2.1./keys",
    "https://[2001:db8::1]/keys",
    "https://[::1]:8443/keys",
    "https://[::ffff:192.0.2.1]/keys",
    "http://192.0.2.1/keys",
    "http://127.0.0.2/keys",
    "http://[2001:db8::1]/keys",
    "https://example..com/keys",
    " https://example.com",
    "https://example.com\n",
  ])("[A9] refuses the endpoint %j, and quotes nothing of it", (url) => {
    expect(tokenProblems({ jwks_public_endpoint: url })).toStrictEqual([addressProblem]);
  });

  it("[A9] refuses an endpoint that is a template", () => {
    const url = "https://example.com/{{realm}}/certs";
    expect(tokenProblems({ jwks_public_endpoint: url })).toStrictEqual([
      "client.token.jwks_public_endpoint has a template, which is not supported by Dormouse",
    ]);
  });

  it("[A9] refuses an endpoint beside other public keys", () => {
    const jwks = { jwks_public_endpoint: "https://example.com" };
    expect(tokenProblems({ ...jwks, rsa_public_key: pems.rsa })).toStrictEqual([
      "client.token.jwks_public_endpoint can't be combined with other public keys",
    ]);
  });

  it("[A9] takes no end of the previous secret's time beside an endpoint, with which no secret counts", () => {
    const jwks = { jwks_public_endpoint: "https://example.com" };
    const until = "hmac_previous_secret_key_valid_until";
    expect(tokenProblems({ ...jwks, [until]: 1_704_240_000 })).toStrictEqual([
      `client.token.${until} can't be combined with jwks_public_endpoint`,
    ]);
    expect(
      problemsOf({ client: { subscription_token: { enabled: true, ...jwks, [until]: 1 } } }),
    ).toStrictEqual([
      `client.subscription_token.${until} can't be combined with jwks_public_endpoint`,
    ]);
    expect(tokenOf({ ...jwks, [until]: 0 })).toMatchObject({
      jwksPublicEndpoint: "https://example.com",
    });
  });

  it.each([
    ["audience_regex", "(", ': "(" is not a valid JavaScript regular expression'],
    ["audience_regex", "(?=a)", ': "(?=a)" has a lookaround, which is not supported'],
    [
      "issuer_regex",
      "a{2000}",
      ': "a{2000}" takes more than 2000 steps when its repetitions are written out: write smaller counts',
    ],
    ["hmac_secret_key", "hunter2", " is a secret: set TOKEN_HMAC_SECRET_KEY instead"],
    [
      "hmac_previous_secret_key",
      "hunter2",
      " is a secret: set TOKEN_HMAC_PREVIOUS_SECRET_KEY instead",
    ],
  ])("[A8] refuses %s: %j", (name, value, predicate) => {
    expect(tokenProblems({ [name]: value })).toStrictEqual([`client.token.${name}${predicate}`]);
  });

  it("[A8] must be a section", () => {
    expect(problemsOf({ client: { token: "hunter2" } })).toStrictEqual([
      "client.token must be an object, found a string",
    ]);
  });
});

describe("the subscription_token section", () => {
  it("[A4] is there when it is enabled, with all that the token section has", () => {
    expect(subscriptionTokenOf({ enabled: true })).toStrictEqual(nothing);
    expect(
      subscriptionTokenOf({ enabled: true, audience: "us", ecdsa_public_key: pems.p256 }),
    ).toStrictEqual({
      ...nothing,
      publicKeys: [{ kind: "P-256", pem: pems.p256.trim() }],
      audience: "us",
    });
  });

  it.each([{}, { enabled: false }, { enabled: false, hmac_secret_key: "", audience: "" }])(
    "[A4] isn't there when it isn't enabled: %j",
    (token) => {
      expect(configOf({ client: { subscription_token: token } }).client).not.toHaveProperty(
        "subscriptionToken",
      );
    },
  );

  it.each([
    { rsa_public_key: pems.rsa },
    { jwks_public_endpoint: "https://example.com" },
    { audience: "us" },
    { user_id_claim: "id" },
    { hmac_previous_secret_key_valid_until: 1 },
  ])("[A4] asks for enabled where it would count for nothing otherwise", (token) => {
    expect(problemsOf({ client: { subscription_token: token } })).toStrictEqual([
      "client.subscription_token.enabled must be true for the other keys of this section to have an effect",
    ]);
  });

  it("[A8] names its own secrets", () => {
    const token = { hmac_secret_key: "hunter2", hmac_previous_secret_key: "hunter2" };
    expect(problemsOf({ client: { subscription_token: token } })).toStrictEqual([
      "client.subscription_token.hmac_secret_key is a secret: set SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY instead",
      "client.subscription_token.hmac_previous_secret_key is a secret: set SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY instead",
    ]);
  });
});
