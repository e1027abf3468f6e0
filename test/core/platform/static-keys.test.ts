import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { TokenConfig } from "../../../src/config/config.ts";
import { TokenVerifier } from "../../../workers/platform/token-verifier.ts";
import { configured } from "../../support/configured.ts";
import { KeyServer, serving, SigningKey } from "../../support/servers/key-server.ts";

const nowMs = 1_700_000_000_000;
const nowSeconds = nowMs / 1000;
const claims = { sub: "user-4711" };
const verified = { outcome: "verified", claims: { user: "user-4711", expireAtSeconds: 0 } };
const notAllowed = { outcome: "invalid", reason: "the algorithm is not allowed" };
const badSignature = {
  outcome: "invalid",
  reason: expect.stringMatching(
    /^the signature doesn't match (TOKEN_HMAC_SECRET_KEY|the public key|the key of the JWKS)/,
  ),
};

/** A token made by hand, so that it doesn't share its library's opinions. */
function signedBy(header: object, signer: (text: string) => Buffer, payload: object = claims) {
  const text = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${signer(text).toString("base64url")}`;
}

function hmac(key: string | Buffer, hash = "sha256") {
  return (text: string) => createHmac(hash, key).update(text).digest();
}

function asymmetric(key: KeyObject, hash: string | null) {
  return (text: string) => sign(hash, Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
}

const newRsa = () => generateKeyPairSync("rsa", { modulusLength: limits.rsaKeyBitsMin });
const newP256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const newP384 = () => generateKeyPairSync("ec", { namedCurve: "P-384" });
const newP521 = () => generateKeyPairSync("ec", { namedCurve: "P-521" });
const newEd25519 = () => generateKeyPairSync("ed25519");
const rsa = newRsa();
const p256 = newP256();
const p384 = newP384();
const p521 = newP521();
const ed25519 = newEd25519();

function hs256(secret: string, payload: object): string {
  return signedBy({ alg: "HS256" }, hmac(secret), payload);
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" });
}

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

interface Signing {
  readonly alg: string;
  readonly option: string;
  readonly pair: Pair;
  readonly hash: string | null;
  /** Makes another pair of the same kind. */
  readonly other: () => Pair;
}

const rsaSigning = { option: "rsa_public_key", pair: rsa, other: newRsa };
const ecdsa = { option: "ecdsa_public_key" };
const signings: readonly Signing[] = [
  { alg: "RS256", hash: "sha256", ...rsaSigning },
  { alg: "RS384", hash: "sha384", ...rsaSigning },
  { alg: "RS512", hash: "sha512", ...rsaSigning },
  { alg: "ES256", hash: "sha256", pair: p256, other: newP256, ...ecdsa },
  { alg: "ES384", hash: "sha384", pair: p384, other: newP384, ...ecdsa },
  { alg: "ES512", hash: "sha512", pair: p521, other: newP521, ...ecdsa },
  { alg: "EdDSA", hash: null, pair: ed25519, other: newEd25519, option: "eddsa_public_key" },
];

interface Given {
  readonly token?: object;
  readonly subscriptionToken?: object;
  readonly secret?: string;
  readonly previous?: string;
  readonly subscriptionSecret?: string;
}

/** A verifier with an operator's token options. */
function verifierOf(given: Given): TokenVerifier {
  const { client } = configured({
    client: {
      token: given.token ?? {},
      subscription_token: given.subscriptionToken ?? {},
    },
  });
  return new TokenVerifier(client, {
    token: {
      name: "TOKEN_HMAC_SECRET_KEY",
      current: given.secret ?? "",
      previous: given.previous ?? "",
    },
    subscriptionToken: {
      name: "SUBSCRIPTION_KEY",
      current: given.subscriptionSecret ?? "",
      previous: "",
    },
    issuers: {},
  });
}

/** Of all public keys at once. */
const everyKey = {
  rsa_public_key: pemOf(rsa.publicKey),
  ecdsa_public_key: pemOf(p256.publicKey),
  eddsa_public_key: pemOf(ed25519.publicKey),
};

describe("a public key", () => {
  it.each(signings)("[A2] verifies what was signed with $alg", async (signing) => {
    const { alg, option, pair, hash } = signing;
    const verifier = verifierOf({ token: { [option]: pemOf(pair.publicKey) } });
    const token = signedBy({ alg }, asymmetric(pair.privateKey, hash));
    expect(await verifier.connection(token, nowMs)).toStrictEqual(verified);
    const forRoom = signedBy({ alg }, asymmetric(pair.privateKey, hash), {
      ...claims,
      channel: "room",
    });
    expect(await verifier.subscription(forRoom, nowMs)).toMatchObject({
      outcome: "verified",
      claims: { user: "user-4711", channel: "room" },
    });
  });

  it.each(signings)(
    "[A2] doesn't verify a token that another key signed with $alg",
    async (signing) => {
      const { alg, option, pair, hash, other } = signing;
      const verifier = verifierOf({ token: { [option]: pemOf(pair.publicKey) } });
      const token = signedBy({ alg }, asymmetric(other().privateKey, hash));
      expect(await verifier.connection(token, nowMs)).toStrictEqual(badSignature);
    },
  );

  const hashes = [
    ["HS256", "sha256"],
    ["HS384", "sha384"],
    ["HS512", "sha512"],
  ] as const;
  it.each(signings)("[A2] of $alg is never a secret", async ({ alg, option, pair }) => {
    const pem = pemOf(pair.publicKey);
    const asSecrets = [
      pem,
      pem.trim(),
      pem.replaceAll("\n", ""),
      pem.replaceAll(/-----.*-----|\s/g, ""),
      pair.publicKey.export({ type: "spki", format: "der" }),
      JSON.stringify(pair.publicKey.export({ format: "jwk" })),
      "",
    ];
    const alone = verifierOf({ token: { [option]: pem } });
    const besideSecret = verifierOf({ token: { [option]: pem }, secret: "secret" });
    for (const [name, hash] of hashes) {
      for (const secret of asSecrets) {
        const token = signedBy({ alg: name }, hmac(secret, hash));
        expect(await alone.connection(token, nowMs)).toStrictEqual(notAllowed);
        expect(await besideSecret.connection(token, nowMs)).toStrictEqual(badSignature);
        const disguised = signedBy({ alg }, hmac(secret, hash));
        expect((await besideSecret.connection(disguised, nowMs)).outcome).toBe("invalid");
      }
    }
  });

  it.each(["none", "None", "", "PS256", "PS512", "ES256K", "Ed25519", "Ed448", "RS1", "eddsa"])(
    "[A2] isn't even looked at when the algorithm is said to be %j",
    async (alg) => {
      const verifier = verifierOf({ token: everyKey, secret: "secret" });
      for (const { pair, hash } of signings) {
        const token = signedBy({ alg }, asymmetric(pair.privateKey, hash));
        expect(await verifier.connection(token, nowMs)).toStrictEqual(notAllowed);
      }
      const unsigned = signedBy({ alg }, () => Buffer.alloc(0));
      expect(await verifier.connection(unsigned, nowMs)).toStrictEqual(notAllowed);
    },
  );

  it("[A2] isn't tried for the algorithms of another kind or of another curve", async () => {
    const verifier = verifierOf({ token: { ecdsa_public_key: pemOf(p384.publicKey) } });
    for (const { alg, pair, hash } of signings) {
      const token = signedBy({ alg }, asymmetric(pair.privateKey, hash));
      expect(await verifier.connection(token, nowMs)).toStrictEqual(
        alg === "ES384" ? verified : notAllowed,
      );
    }
  });

  it("[A2] verifies no payload that isn't encoded", async () => {
    const verifier = verifierOf({ token: everyKey });
    const signer = asymmetric(ed25519.privateKey, null);
    expect(
      await verifier.connection(signedBy({ alg: "EdDSA", b64: false }, signer), nowMs),
    ).toStrictEqual({ outcome: "invalid", reason: "the payload is not base64url-encoded" });
    const head = Buffer.from(`{"alg":"EdDSA","b64":false,"crit":["b64"]}`).toString("base64url");
    const text = `${head}.${JSON.stringify(claims)}`;
    const token = `${text}.${signer(text).toString("base64url")}`;
    expect((await verifier.connection(token, nowMs)).outcome).toBe("invalid");
  });

  it("[A2] works beside a secret and other keys", async () => {
    const verifier = verifierOf({ token: everyKey, secret: "secret" });
    for (const alg of ["RS512", "ES256", "EdDSA"]) {
      const signing = signings.find((one) => one.alg === alg);
      if (signing === undefined) throw new Error(`nothing signs with ${alg}`);
      const token = signedBy({ alg }, asymmetric(signing.pair.privateKey, signing.hash));
      expect(await verifier.connection(token, nowMs)).toStrictEqual(verified);
    }
    const token = signedBy({ alg: "HS256" }, hmac("secret"));
    expect(await verifier.connection(token, nowMs)).toStrictEqual(verified);
  });
});

describe("a public key that can't be used", () => {
  let logged: string[];
  beforeEach(() => {
    logged = [];
    vi.spyOn(console, "error").mockImplementation((line: string) => logged.push(line));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const short = generateKeyPairSync("rsa", { modulusLength: limits.rsaKeyBitsMin - 8 });
  const cut = pemOf(p256.publicKey).replace(/[A-Za-z0-9+/]{4}=*\n-----END/, "\n-----END");
  it.each([
    ["is too short", "RS256", { rsa_public_key: pemOf(short.publicKey) }, short.privateKey],
    ["is broken", "ES256", { ecdsa_public_key: cut }, p256.privateKey],
  ] as const)(
    "[A7] because it %s, makes nobody give up, and is logged once",
    async (_, alg, token, privateKey) => {
      const verifier = verifierOf({ token });
      const signed = signedBy({ alg }, asymmetric(privateKey, "sha256"));
      const outcomes = await Promise.all([1, 2, 3].map(() => verifier.connection(signed, nowMs)));
      outcomes.push(await verifier.connection(signed, nowMs));
      expect(outcomes).toStrictEqual(outcomes.map(() => ({ outcome: "unavailable" })));
      const kind = alg === "RS256" ? "RSA" : "P-256";
      expect(logged).toStrictEqual([`the ${kind} public key for tokens can't be used for ${alg}`]);
    },
  );
});

function until(seconds: number): Given {
  return { token: { hmac_previous_secret_key_valid_until: seconds } };
}

describe("the previous secret", () => {
  const old = signedBy({ alg: "HS512" }, hmac("previous", "sha512"));
  const secrets = { secret: "current", previous: "previous" };

  it.each<[string, Given, object]>([
    ["as long as it is there", secrets, verified],
    ["until its time", { ...secrets, ...until(nowSeconds + 1) }, verified],
    ["not at its time", { ...secrets, ...until(nowSeconds) }, badSignature],
    ["not after its time", { ...secrets, ...until(1) }, badSignature],
    ["not when it is gone", { secret: "current" }, badSignature],
  ])("[A2] counts %s", async (_, given, outcome) => {
    const verifier = verifierOf(given);
    expect(await verifier.connection(old, nowMs)).toStrictEqual(outcome);
    const current = signedBy({ alg: "HS256" }, hmac("current"));
    expect(await verifier.connection(current, nowMs)).toStrictEqual(verified);
    const neither = signedBy({ alg: "HS256" }, hmac("another"));
    expect(await verifier.connection(neither, nowMs)).toStrictEqual(badSignature);
  });
});

describe("a verifier", () => {
  const forRoom = { ...claims, channel: "room" };

  it("[A4] believes subscription tokens by their own keys and rules alone, where they have any", async () => {
    const verifier = verifierOf({
      secret: "for connections",
      subscriptionSecret: "for subscriptions",
      token: { issuer: "house" },
      subscriptionToken: { enabled: true, audience: "us" },
    });
    const accepted = await Promise.all([
      verifier.connection(hs256("for connections", { ...claims, iss: "house" }), nowMs),
      verifier.subscription(hs256("for subscriptions", { ...forRoom, aud: "us" }), nowMs),
    ]);
    expect(accepted.map(({ outcome }) => outcome)).toStrictEqual(["verified", "verified"]);
    const refused = await Promise.all([
      verifier.connection(hs256("for subscriptions", { ...claims, iss: "house" }), nowMs),
      verifier.subscription(hs256("for connections", { ...forRoom, aud: "us" }), nowMs),
      verifier.connection(hs256("for connections", { ...claims, aud: "us" }), nowMs),
      verifier.subscription(hs256("for subscriptions", { ...forRoom, iss: "house" }), nowMs),
    ]);
    expect(refused.map(({ outcome }) => outcome)).toStrictEqual(refused.map(() => "invalid"));
  });

  it("[A4] believes both kinds by the same keys and rules otherwise", async () => {
    const verifier = verifierOf({
      secret: "for both",
      subscriptionSecret: "for nothing",
      token: { audience: "us" } satisfies Partial<TokenConfig>,
    });
    const good = hs256("for both", { ...forRoom, aud: "us" });
    expect((await verifier.subscription(good, nowMs)).outcome).toBe("verified");
    for (const bad of [
      hs256("for nothing", { ...forRoom, aud: "us" }),
      hs256("for both", forRoom),
    ]) {
      expect((await verifier.subscription(bad, nowMs)).outcome).toBe("invalid");
    }
  });

  describe("with a JWKS", () => {
    const key = new SigningKey("key");
    let server: KeyServer;
    let verifier: TokenVerifier;
    beforeEach(async () => {
      server = await KeyServer.start(serving([key.jwk]));
      const token = { jwks_public_endpoint: server.url };
      verifier = verifierOf({ token, secret: "secret", previous: "previous" });
    });
    afterEach(async () => {
      await server.close();
    });

    it("[A9] believes what its keys signed, and fetches it once for both kinds", async () => {
      expect(await verifier.connection(key.token(claims), nowMs)).toStrictEqual(verified);
      expect((await verifier.subscription(key.token(forRoom), nowMs)).outcome).toBe("verified");
      expect(server.requests).toHaveLength(1);
    });

    it("[A9] can't tell of anybody while it isn't there", async () => {
      server.answer = (response) => response.writeHead(503).end();
      const log = vi.spyOn(console, "error").mockReturnValue();
      expect(await verifier.connection(key.token(claims), nowMs)).toStrictEqual({
        outcome: "unavailable",
      });
      expect(log).toHaveBeenCalledOnce();
      vi.restoreAllMocks();
    });

    it("[A2] believes no secret", async () => {
      for (const secret of ["secret", "previous", ""]) {
        expect(await verifier.connection(hs256(secret, claims), nowMs)).toStrictEqual(notAllowed);
      }
      expect(server.requests).toHaveLength(0);
    });

    it("[A2] believes no other key under the same name, and no name that it doesn't have", async () => {
      const impostor = new SigningKey("key");
      expect(await verifier.connection(impostor.token(claims), nowMs)).toStrictEqual(badSignature);
      const attacker = new SigningKey("another");
      expect((await verifier.connection(attacker.token(claims), nowMs)).outcome).not.toBe(
        "verified",
      );
    });

    it.each<[string, object]>([
      ["no kid", { alg: "EdDSA" }],
      ["an empty kid", { alg: "EdDSA", kid: "" }],
      ["a kid that is no text", { alg: "EdDSA", kid: ["key"] }],
    ])("[A2] believes nothing with %s", async (_, header) => {
      expect(await verifier.connection(key.token(claims, header), nowMs)).toStrictEqual({
        outcome: "invalid",
        reason: 'the header has no "kid"',
      });
      expect(server.requests).toHaveLength(0);
    });

    it("[A2] looks for keys nowhere else, whatever a token says", async () => {
      const other = await KeyServer.start(serving([key.jwk]));
      const attacker = new SigningKey("stranger");
      const header = { alg: "EdDSA", kid: "stranger", jku: other.url, jwk: attacker.jwk };
      const outcome = await verifier.connection(attacker.token(claims, header), nowMs);
      expect(outcome).toStrictEqual({ outcome: "invalid", reason: 'unknown "kid"' });
      expect(other.requests).toHaveLength(0);
      await other.close();
    });
  });
});
