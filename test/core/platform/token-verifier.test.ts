import { type BinaryLike, createHmac, createSign, generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { TokenVerifier } from "../../../workers/platform/token-verifier.ts";
import { configured } from "../../support/configured.ts";

const nowMs = 1_700_000_000_000;
const nowSeconds = nowMs / 1000;
const secret = "correct horse battery staple";
const header = { alg: "HS256", typ: "JWT" };
/** Claims whose values must not turn up in any reason. */
const claims = { sub: "user-4711", exp: nowSeconds + 60, info: { name: "Grace-4712" } };

type Part = string | Buffer | object;

/** One part of a token: an object as JSON, text and bytes as they are; all in base64url. */
function part(content: Part): string {
  const isRaw = typeof content === "string" || Buffer.isBuffer(content);
  return Buffer.from(isRaw ? content : JSON.stringify(content)).toString("base64url");
}

function hmac(hash: string, key: BinaryLike, text: string): string {
  return createHmac(hash, key).update(text).digest("base64url");
}

/** A token made by hand, so that it doesn't share its library's opinions. */
function signed(head: Part, payload: Part, key: BinaryLike = secret, hash = "sha256"): string {
  const text = `${part(head)}.${part(payload)}`;
  return `${text}.${hmac(hash, key, text)}`;
}

function flippedAt(text: string, index: number): string {
  const other = text[index] === "A" ? "B" : "A";
  return text.slice(0, index) + other + text.slice(index + 1);
}

/** A verifier with one secret for both kinds of token. */
function verifierOf(current: string): TokenVerifier {
  const none = { name: "OTHER", current: "", previous: "" };
  const token = { name: "SECRET", current, previous: "" };
  const secrets = { token, subscriptionToken: none, issuers: {} };
  return new TokenVerifier(configured().client, secrets);
}

function connection(token: string, current = secret) {
  return verifierOf(current).connection(token, nowMs);
}

function subscription(token: string, current = secret) {
  return verifierOf(current).subscription(token, nowMs);
}

const good = signed(header, claims);
const [goodHead = "", goodPayload = "", goodSignature = ""] = good.split(".");

describe("a token", () => {
  it.each([
    ["HS256", "sha256"],
    ["HS384", "sha384"],
    ["HS512", "sha512"],
  ])("[A2] signed with %s and the secret is believed", async (alg, hash) => {
    const token = signed({ alg }, claims, secret, hash);
    expect(await connection(token)).toStrictEqual({
      outcome: "verified",
      claims: {
        user: "user-4711",
        expireAtSeconds: nowSeconds + 60,
        info: `{"name":"Grace-4712"}`,
      },
    });
    const forRoom = signed({ alg }, { ...claims, channel: "room" }, secret, hash);
    expect(await subscription(forRoom)).toMatchObject({
      outcome: "verified",
      claims: { user: "user-4711", channel: "room" },
    });
  });

  it("[A2] may be signed with a secret that isn't ASCII", async () => {
    const outcome = await connection(signed(header, claims, "gehëim"), "gehëim");
    expect(outcome.outcome).toBe("verified");
  });

  it("[A11] is verified in insecure mode too, but has no end afterwards", async () => {
    const none = { name: "OTHER", current: "", previous: "" };
    const token = { name: "SECRET", current: secret, previous: "" };
    const secrets = { token, subscriptionToken: none, issuers: {} };
    const verifier = new TokenVerifier({ ...configured().client, insecure: true }, secrets);
    expect(await verifier.connection(good, nowMs)).toMatchObject({
      outcome: "verified",
      claims: { user: "user-4711", expireAtSeconds: 0 },
    });
    const forged = signed(header, claims, "another secret");
    expect((await verifier.connection(forged, nowMs)).outcome).toBe("invalid");
  });

  it("[C3] that has expired is said to have, and so is one that isn't valid yet", async () => {
    const expired = { outcome: "expired", reason: expect.stringMatching(/^(exp was|nbf is) /) };
    for (const times of [{ exp: nowSeconds }, { nbf: nowSeconds + 1 }]) {
      const token = signed(header, { ...claims, ...times });
      expect(await connection(token)).toStrictEqual(expired);
      const forRoom = signed(header, { ...claims, ...times, channel: "room" });
      expect(await subscription(forRoom)).toStrictEqual(expired);
    }
  });

  it("[A2] that has expired is invalid, not expired, when its signature is wrong", async () => {
    const token = signed(header, { ...claims, exp: 1 }, "another secret");
    expect((await connection(token)).outcome).toBe("invalid");
  });

  it("[A2] for a subscription opens no connection, and one for a connection no subscription", async () => {
    const forRoom = signed(header, { ...claims, channel: "room" });
    expect((await connection(forRoom)).outcome).toBe("invalid");
    expect((await subscription(good)).outcome).toBe("invalid");
  });

  it.each([
    ["a key ID", { kid: "../../dev/null" }],
    ["a key URL", { jku: "https://attacker.example/keys", x5u: "https://attacker.example/cert" }],
    ["a key", { jwk: { kty: "oct", k: part("attacker") } }],
    ["another type", { typ: "at+jwt", cty: "JWT" }],
  ])("[A2] is believed by its signature alone, whatever its header says of %s", async (_, more) => {
    const mine = signed({ ...header, ...more }, claims);
    expect((await connection(mine)).outcome).toBe("verified");
    const theirs = signed({ ...header, ...more }, claims, "attacker");
    expect((await connection(theirs)).outcome).toBe("invalid");
  });

  it("[B1] may be as long as the limit, and not longer", async () => {
    const longest = paddedTo(limits.tokenBytesMax);
    expect(longest).toHaveLength(limits.tokenBytesMax);
    expect((await connection(longest)).outcome).toBe("verified");
    const longer = paddedTo(limits.tokenBytesMax + 1);
    expect(await connection(longer)).toStrictEqual({
      outcome: "invalid",
      reason: "the token is too long",
    });
  });
});

/** A good token of exactly so many characters; the padding is in the header and the payload, which divide it finely. */
function paddedTo(length: number): string {
  for (let inHeader = 0; inHeader < 4; inHeader++) {
    const head = { ...header, x: "x".repeat(inHeader) };
    for (let inPayload = Math.floor(length * 0.74) - 300; inPayload < length; inPayload++) {
      const rest =
        part(head).length + 1 + part({ ...claims, x: "x".repeat(inPayload) }).length + 44;
      if (rest === length) return signed(head, { ...claims, x: "x".repeat(inPayload) });
      if (rest > length) break;
    }
  }
  throw new Error(`no token has ${length} characters`);
}

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsaPublicPem = rsa.publicKey.export({ type: "spki", format: "pem" });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });

function signedAsymmetrically(alg: string): string {
  const text = `${part({ alg })}.${part(claims)}`;
  const signer = createSign("sha256").update(text);
  const signature =
    alg === "ES256"
      ? signer.sign({ key: ec.privateKey, dsaEncoding: "ieee-p1363" })
      : signer.sign(rsa.privateKey);
  return `${text}.${signature.toString("base64url")}`;
}

const padded = `${goodHead}.${part({ ...claims, x: "" })}==`;
const paddedPayload = `${padded}.${hmac("sha256", secret, padded)}`;

/** A good signature in which plain base64 has other characters than base64url. */
const plainSignature =
  Array.from({ length: 100 }, (_, number) => signed({ ...header, number }, claims))
    .filter((token) => /[-_][^.]*$/.test(token))
    .map((token) => {
      const dot = token.lastIndexOf(".");
      return token.slice(0, dot) + token.slice(dot).replaceAll("-", "+").replaceAll("_", "/");
    })[0] ?? "";

const bare = `${part({ alg: "none" })}.${part(claims)}`;
const unencoded = `${part({ alg: "HS256", b64: false, crit: ["b64"] })}.{"sub":"user-4711"}`;

/** Tokens that an attacker could send; each must be refused by both verifiers. */
const attacks: readonly (readonly [string, string])[] = [
  ...["none", "None", "NONE", "nOnE", "", "hs256", "HS1", "HS256 ", "null"].flatMap(
    (alg): readonly (readonly [string, string])[] => [
      [`alg ${JSON.stringify(alg)} without a signature`, `${part({ alg })}.${part(claims)}.`],
      [`alg ${JSON.stringify(alg)} with a good signature`, signed({ alg }, claims)],
      [
        `alg ${JSON.stringify(alg)} with the signature of another`,
        `${part({ alg })}.${part(claims)}.${goodSignature}`,
      ],
    ],
  ),
  ["alg none in two parts", bare],
  ["no alg", signed({ typ: "JWT" }, claims)],
  ["alg that is a list", signed({ alg: ["HS256"] }, claims)],
  ["alg that is null", signed({ alg: null }, claims)],
  ["alg of another length than the signature", signed({ alg: "HS512" }, claims)],
  ["an RS256 signature", signedAsymmetrically("RS256")],
  ["an ES256 signature", signedAsymmetrically("ES256")],
  ["an RS256 header with an HMAC signature", signed({ alg: "RS256" }, claims)],
  ["an RSA public key as HMAC secret", signed(header, claims, rsaPublicPem)],
  [
    "an RSA public key without line breaks as HMAC secret",
    signed(header, claims, rsaPublicPem.trim()),
  ],
  [
    "an RSA public key as DER as HMAC secret",
    signed(header, claims, rsa.publicKey.export({ type: "spki", format: "der" })),
  ],
  ["an empty secret", signed(header, claims, "")],
  ["the secret in another case", signed(header, claims, secret.toUpperCase())],
  ["the secret with a space", signed(header, claims, `${secret} `)],
  ["the secret's base64", signed(header, claims, Buffer.from(secret).toString("base64"))],
  ["a changed payload", `${goodHead}.${part({ ...claims, sub: "admin" })}.${goodSignature}`],
  ["a changed header", `${part({ ...header, kid: "1" })}.${goodPayload}.${goodSignature}`],
  ["the header of another algorithm", `${part({ alg: "HS384" })}.${goodPayload}.${goodSignature}`],
  [
    "a first character of the signature changed",
    `${goodHead}.${goodPayload}.${flippedAt(goodSignature, 0)}`,
  ],
  [
    "a last byte of the signature cut off",
    `${goodHead}.${goodPayload}.${goodSignature.slice(0, -2)}`,
  ],
  ["half a signature", `${goodHead}.${goodPayload}.${goodSignature.slice(0, 21)}`],
  ["more than a signature", `${good}AAAA`],
  ["a signature with padding", `${good}=`],
  ["a payload with padding", paddedPayload],
  ["a signature with a line break", `${goodHead}.${goodPayload}.\n${goodSignature}`],
  ["a signature in plain base64", plainSignature],
  ["no signature", `${goodHead}.${goodPayload}.`],
  ["two parts", `${goodHead}.${goodPayload}`],
  ["one part", goodHead],
  ["four parts", `${good}.`],
  ["five parts, as of an encrypted token", `${good}.${goodPayload}.${goodSignature}`],
  ["a leading dot", `.${good}`],
  ["an empty header", `.${goodPayload}.${hmac("sha256", secret, `.${goodPayload}`)}`],
  ["an empty payload", signed(header, "")],
  ["nothing", ""],
  ["dots", ".."],
  ["no base64", `${goodHead}.${goodPayload}.!!!`],
  ["text that isn't ASCII", `${goodHead}.${goodPayload}é.${goodSignature}`],
  ["half a character", `${goodHead}.${goodPayload}.\ud83d`],
  [
    "a JSON object",
    JSON.stringify({ protected: goodHead, payload: goodPayload, signature: goodSignature }),
  ],
  ["a header that isn't JSON", signed("{", claims)],
  ["a header that isn't an object", signed("[]", claims)],
  ["a header that isn't UTF-8", signed(Buffer.from([0x7b, 0xff, 0x7d]), claims)],
  ["an extension that must be understood", signed({ ...header, crit: ["exp"], exp: 1 }, claims)],
  ["an extension that is named but not there", signed({ ...header, crit: ["x"] }, claims)],
  ["an empty list of extensions", signed({ ...header, crit: [] }, claims)],
  ["extensions that are no list", signed({ ...header, crit: "exp" }, claims)],
  ["a payload that isn't encoded", `${unencoded}.${hmac("sha256", secret, unencoded)}`],
  ["a payload said not to be encoded", signed({ ...header, b64: false }, claims)],
  ["a payload that isn't JSON", signed(header, "sub=user-4711")],
  ["a payload that isn't an object", signed(header, `["user-4711"]`)],
  [
    "a payload that isn't UTF-8",
    signed(header, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
  ],
  ["a payload with a byte order mark", signed(header, `\uFEFF${JSON.stringify(claims)}`)],
  ["a user that isn't text", signed(header, { ...claims, sub: 4711 })],
  ["an end that isn't a number", signed(header, { ...claims, exp: "tomorrow-4711" })],
  ["an info that isn't base64", signed(header, { ...claims, b64info: "%-4711" })],
  [
    "an override that isn't one",
    signed(header, { ...claims, channel: "room-4711", override: 4711 }),
  ],
  ["a great length", signed(header, { ...claims, padding: "x".repeat(1_000_000) })],
  ["a great length of dots", ".".repeat(1_000_000)],
];

describe("an attacker's token", () => {
  const verifiers = [connection, subscription];

  it.each(attacks)(
    "[A2] [A7] with %s is invalid, for a reason that quotes nothing of it",
    async (_, token) => {
      for (const verify of verifiers) {
        const outcome = await verify(token);
        expect(outcome).toStrictEqual({ outcome: "invalid", reason: expect.any(String) });
        const reason = outcome.outcome === "invalid" ? outcome.reason : "";
        expect(reason).toMatch(/^[\w {}:.'"-]{1,80}$/);
        expect(reason).not.toMatch(/471\d|none|admin|attacker/i);
        expect(reason).not.toContain(secret);
        const parts = token.split(".").filter((each) => each.length > 4);
        expect(parts.filter((each) => reason.includes(each))).toStrictEqual([]);
      }
    },
  );

  it.each(["none", "RS256", "ES256", "PS512", "EdDSA", "A256GCM"])(
    "[A2] is refused by our list of algorithms, before any key is tried, when it says %s",
    async (alg) => {
      expect(await connection(signed({ alg }, claims))).toStrictEqual({
        outcome: "invalid",
        reason: "the algorithm is not allowed",
      });
    },
  );

  it("[A2] is invalid under an empty secret, whatever it was signed with", async () => {
    for (const token of [good, signed(header, claims, ""), `${bare}.`]) {
      for (const verify of verifiers) {
        expect((await verify(token, "")).outcome).toBe("invalid");
      }
    }
  });

  it("[A2] is invalid with any one character of it changed", async () => {
    // The last character of a part holds bits that mean nothing; all others count.
    const ends = new Set([goodHead.length - 1, good.lastIndexOf(".") - 1, good.length - 1]);
    for (let index = 0; index < good.length; index++) {
      if (ends.has(index)) continue;
      const outcome = await connection(flippedAt(good, index));
      expect({ index, outcome: outcome.outcome }).toStrictEqual({ index, outcome: "invalid" });
    }
  });
});

/** Counts the signatures that are verified until the test ends. */
function countVerifications() {
  return vi.spyOn(crypto.subtle, "verify");
}

describe("a token that was verified a moment ago", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("[A37] is believed without a look at its signature, as long as its claims hold", async () => {
    const verifier = verifierOf(secret);
    const counted = countVerifications();
    const first = await verifier.connection(good, nowMs);
    expect(await verifier.connection(good, nowMs + 1)).toStrictEqual(first);
    expect(counted).toHaveBeenCalledTimes(1);
    expect(await verifier.connection(good, nowMs + 61_000)).toMatchObject({ outcome: "expired" });
    expect(counted).toHaveBeenCalledTimes(1);
  });

  it("[A37] [A2] says nothing of another signature, nor of a token that wasn't believed", async () => {
    const verifier = verifierOf(secret);
    await verifier.connection(good, nowMs);
    const forged = `${goodHead}.${goodPayload}.${flippedAt(goodSignature, 3)}`;
    for (let time = 0; time < 2; time++)
      expect(await verifier.connection(forged, nowMs)).toMatchObject({ outcome: "invalid" });
    const other = signed(header, { ...claims, sub: "other" }, "another secret that is long");
    for (let time = 0; time < 2; time++)
      expect(await verifier.connection(other, nowMs)).toMatchObject({ outcome: "invalid" });
  });

  it("[A37] is verified again once its key isn't in force any more", async () => {
    const none = { name: "OTHER", current: "", previous: "" };
    const token = { name: "SECRET", current: "a new secret, long enough", previous: secret };
    const untilSeconds = nowSeconds + 10;
    const { client } = configured({
      client: { token: { hmac_previous_secret_key_valid_until: untilSeconds } },
    });
    const verifier = new TokenVerifier(client, { token, subscriptionToken: none, issuers: {} });
    expect(await verifier.connection(good, nowMs)).toMatchObject({ outcome: "verified" });
    expect(await verifier.connection(good, nowMs + 10_000)).toMatchObject({ outcome: "invalid" });
  });

  it("[A37] [B1] is remembered within a bound, and those used last for longest", async () => {
    const verifier = verifierOf(secret);
    const long = "x".repeat(2_000);
    const tokenOf = (number: number): string =>
      signed(header, { ...claims, info: long, jti: `${number}` });
    const count = Math.ceil(limits.verifiedTokensBytesMax / 4_000);
    await verifier.connection(good, nowMs);
    for (let number = 0; number < count; number++) {
      await verifier.connection(tokenOf(number), nowMs);
      await verifier.connection(good, nowMs);
    }
    const counted = countVerifications();
    await verifier.connection(good, nowMs);
    await verifier.connection(tokenOf(count - 1), nowMs);
    expect(counted).toHaveBeenCalledTimes(0);
    await verifier.connection(tokenOf(0), nowMs);
    expect(counted).toHaveBeenCalledTimes(1);
  });
});
