import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { configurationOf } from "../../../workers/platform/configuration.ts";
import type { TokenVerifier } from "../../../workers/platform/token-verifier.ts";
import { limits } from "../../../src/limits.ts";
import { KeyServer, serving, SigningKey } from "../../support/servers/key-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const nowMs = 1_700_000_000_000;
const secrets = {
  API_KEY: "the-api-key-of-the-test",
  TOKEN_HMAC_SECRET_KEY_SHOP: "the-secret-of-the-shop",
  TOKEN_HMAC_SECRET_KEY_SHOP_PREVIOUS: "the-shop-before-that",
  TOKEN_HMAC_SECRET_KEY_FORUM: "the-secret-of-the-forum",
};
const shop = { issuer: "shop", hmac_secret: "TOKEN_HMAC_SECRET_KEY_SHOP", audience: "us" };
const forum = { issuer: "forum", hmac_secret: "TOKEN_HMAC_SECRET_KEY_FORUM", user_id_claim: "id" };

/** The keys of two identity providers, which have the same name. */
const ours = new SigningKey("key");
const theirs = new SigningKey("key");
let server: KeyServer;
let other: KeyServer;

beforeEach(async () => {
  server = await KeyServer.start(serving([ours.jwk]));
  other = await KeyServer.start(serving([theirs.jwk]));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
  await other.close();
});

/** The verifier of a Worker with these issuers. */
function verifierOf(client: object): TokenVerifier {
  const configuration = configurationOf({ ...secrets, config: JSON.stringify({ client }) });
  if (configuration.outcome === "unconfigured") throw new Error(configuration.problems.join("\n"));
  return configuration.verifier;
}

function verifierWith(...issuers: readonly object[]): TokenVerifier {
  return verifierOf({ token: { issuers } });
}

const signed = (secret: string, claims: object) => signToken(claims, secret);

const ofShop = { iss: "shop", aud: "us", sub: "ann" };
const ofForum = { iss: "forum", id: "ben", sub: "not-this" };

describe("a token where several issuers are configured", () => {
  it("[A15] is verified with the keys and by the rules of its issuer", async () => {
    const verifier = verifierWith(shop, forum);
    const shops = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, ofShop);
    expect(await verifier.connection(shops, nowMs)).toMatchObject({ claims: { user: "ann" } });
    const forums = signed(secrets.TOKEN_HMAC_SECRET_KEY_FORUM, ofForum);
    expect(await verifier.connection(forums, nowMs)).toMatchObject({ claims: { user: "ben" } });
    const subscribing = signed(secrets.TOKEN_HMAC_SECRET_KEY_FORUM, {
      ...ofForum,
      channel: "news",
    });
    expect(await verifier.subscription(subscribing, nowMs)).toMatchObject({
      claims: { user: "ben", channel: "news" },
    });
    const elsewhere = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, { ...ofShop, aud: "them" });
    expect(await verifier.connection(elsewhere, nowMs)).toStrictEqual({
      outcome: "invalid",
      reason: 'unexpected "aud" claim',
    });
  });

  it("[A37] [B1] is remembered within one bound for all issuers, and with its issuer's key", async () => {
    const verifier = verifierWith(shop, forum);
    const shops = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, ofShop);
    const forged = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, ofForum);
    await verifier.connection(shops, nowMs);
    for (let time = 0; time < 2; time++)
      expect((await verifier.connection(forged, nowMs)).outcome).toBe("invalid");
    const counted = vi.spyOn(crypto.subtle, "verify");
    await verifier.connection(shops, nowMs);
    expect(counted).toHaveBeenCalledTimes(0);
    const info = "x".repeat(2_000);
    for (let number = 0; number < limits.verifiedTokensBytesMax / 4_000; number++) {
      const claims = { ...ofForum, info, jti: `${number}` };
      await verifier.connection(signed(secrets.TOKEN_HMAC_SECRET_KEY_FORUM, claims), nowMs);
    }
    counted.mockClear();
    await verifier.connection(shops, nowMs);
    expect(counted).toHaveBeenCalledTimes(1);
  });

  it("[A15] may be signed with its issuer's previous secret, while that is valid", async () => {
    const token = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP_PREVIOUS, ofShop);
    const until = { ...shop, hmac_previous_secret_key_valid_until: nowMs / 1000 };
    expect((await verifierWith(shop).connection(token, nowMs)).outcome).toBe("verified");
    expect((await verifierWith(until).connection(token, nowMs - 1)).outcome).toBe("verified");
    expect((await verifierWith(until).connection(token, nowMs)).outcome).toBe("invalid");
  });

  it("[A15] isn't verified with the key of another issuer, and the secret is named", async () => {
    const verifier = verifierWith(shop, forum);
    const forged = signed(secrets.TOKEN_HMAC_SECRET_KEY_FORUM, ofShop);
    expect(await verifier.connection(forged, nowMs)).toStrictEqual({
      outcome: "invalid",
      reason: "the signature doesn't match TOKEN_HMAC_SECRET_KEY_SHOP",
    });
  });

  it.each([
    ["no such issuer", { ...ofShop, iss: "bazaar" }],
    ["an issuer in another case", { ...ofShop, iss: "Shop" }],
    ["a name that every object inherits", { ...ofShop, iss: "constructor" }],
    ["an empty issuer", { ...ofShop, iss: "" }],
  ])("[A15] of %s is refused by the name of the setting", async (_, claims) => {
    const token = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, claims);
    const client = { token: { issuers: [shop] } };
    expect(await verifierOf(client).connection(token, nowMs)).toStrictEqual({
      outcome: "invalid",
      reason: 'client.token.issuers doesn\'t list the "iss" claim',
    });
    const section = { enabled: true, issuers: [shop] };
    const subscribing = verifierOf({ ...client, subscription_token: section });
    expect(await subscribing.subscription(token, nowMs)).toStrictEqual({
      outcome: "invalid",
      reason: 'client.subscription_token.issuers doesn\'t list the "iss" claim',
    });
  });

  it.each([
    ["without an issuer", { sub: "ann" }],
    ["with several", { ...ofShop, iss: ["shop"] }],
    ["that isn't an object", []],
  ])("[A15] %s is refused", async (_, claims) => {
    const token = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, claims);
    expect(await verifierWith(shop).connection(token, nowMs)).toStrictEqual({
      outcome: "invalid",
      reason: 'the "iss" claim is missing, and client.token.issuers is set',
    });
  });

  it("[A15] that can't be read is refused", async () => {
    const [head, , signature] = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, ofShop).split(".");
    for (const payload of ["", "e30", "gICA", "A"]) {
      const token = `${head}.${payload}.${signature}`;
      expect((await verifierWith(shop).connection(token, nowMs)).outcome).toBe("invalid");
    }
  });

  it("[A15] [A9] is verified with its issuer's JWKS, whose keys no other issuer has", async () => {
    const verifier = verifierWith(
      { issuer: "ours", jwks_public_endpoint: server.url },
      { issuer: "theirs", jwks_public_endpoint: other.url },
    );
    const good = ours.token({ iss: "ours", sub: "ann" });
    expect(await verifier.connection(good, nowMs)).toMatchObject({ claims: { user: "ann" } });
    expect(other.requests).toEqual([]);
    const forged = ours.token({ iss: "theirs", sub: "ann" });
    expect(await verifier.connection(forged, nowMs)).toMatchObject({ outcome: "invalid" });
    const theirOwn = theirs.token({ iss: "theirs", sub: "eve" });
    expect(await verifier.connection(theirOwn, nowMs)).toMatchObject({ claims: { user: "eve" } });
    expect(await verifier.connection(good, nowMs)).toMatchObject({ outcome: "verified" });
    expect(server.requests).toHaveLength(1);
  });

  it("[A15] [A9] can't be verified for now if its issuer's JWKS fails, which the log names", async () => {
    const logged: string[] = [];
    vi.spyOn(console, "error").mockImplementation((line: string) => logged.push(line));
    other.answer = (response) => response.writeHead(500).end();
    const verifier = verifierWith(shop, { issuer: "theirs", jwks_public_endpoint: other.url });
    const token = theirs.token({ iss: "theirs", sub: "eve" });
    expect(await verifier.connection(token, nowMs)).toStrictEqual({ outcome: "unavailable" });
    expect(logged).toStrictEqual([
      "the JWKS of client.token.issuers[1] can't be fetched: the response has status 500",
    ]);
    const shops = signed(secrets.TOKEN_HMAC_SECRET_KEY_SHOP, ofShop);
    expect((await verifier.connection(shops, nowMs)).outcome).toBe("verified");
  });
});

describe("a Worker with several issuers", () => {
  const config = { client: { token: { issuers: [shop, forum] } } };

  it("[A8] [A10] [A15] says which of their secrets are missing, weak or the same", () => {
    const env = { ...secrets, TOKEN_HMAC_SECRET_KEY_FORUM: "", config };
    expect(configurationOf(env)).toStrictEqual({
      outcome: "unconfigured",
      problems: [
        `secret TOKEN_HMAC_SECRET_KEY_FORUM is missing: set it with "wrangler secret put TOKEN_HMAC_SECRET_KEY_FORUM"`,
      ],
    });
    const weak = { ...secrets, TOKEN_HMAC_SECRET_KEY_FORUM: "short", config };
    expect(configurationOf(weak)).toMatchObject({
      problems: ["secret TOKEN_HMAC_SECRET_KEY_FORUM has fewer than 16 characters"],
    });
    const same = { ...weak, TOKEN_HMAC_SECRET_KEY_FORUM: secrets.TOKEN_HMAC_SECRET_KEY_SHOP };
    expect(configurationOf(same)).toMatchObject({
      problems: [
        "secret TOKEN_HMAC_SECRET_KEY_FORUM is equal to secret TOKEN_HMAC_SECRET_KEY_SHOP",
      ],
    });
  });

  it("[A15] needs no TOKEN_HMAC_SECRET_KEY, and says that it has no effect", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    expect(configurationOf({ ...secrets, config }).outcome).toBe("configured");
    expect(warn.mock.calls).toStrictEqual([]);
    // The secret of the only issuer there was may stay while it becomes that of one of them.
    const former = { TOKEN_HMAC_SECRET_KEY: secrets.TOKEN_HMAC_SECRET_KEY_SHOP };
    expect(configurationOf({ ...secrets, ...former, config }).outcome).toBe("configured");
    expect(warn.mock.calls).toStrictEqual([
      ["secret TOKEN_HMAC_SECRET_KEY has no effect beside client.token.issuers"],
    ]);
  });
});
