import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { parseKeySet } from "../../../../src/access/keys.ts";
import { consoleLimits } from "../../../../src/features/console/limits.ts";
import { PasswordAccess, TeamAccess } from "../../../../workers/features/console/console-access.ts";

const nowMs = 1_700_000_000_000;
const lifetimeMs = consoleLimits.consoleSessionSeconds * 1_000;

describe("a login by password", () => {
  const access = new PasswordAccess("the password of the console");

  it("[N2] begins with the right password only, and ends after its time", async () => {
    for (const wrong of ["", "the password", "the password of the console ", "x".repeat(1_025)])
      expect(await access.logIn(wrong, nowMs)).toBeUndefined();
    const token = (await access.logIn("the password of the console", nowMs))?.token ?? "";
    expect(await access.endOf(token, nowMs)).toBe((nowMs + lifetimeMs) / 1_000);
    expect(await access.endOf(token, nowMs + lifetimeMs - 1_000)).toBeDefined();
    expect(await access.endOf(token, nowMs + lifetimeMs)).toBeUndefined();
  });

  it("[B1] [N2] isn't compared with a password that is too long", async () => {
    for (const more of [0, 1]) {
      const password = "x".repeat(consoleLimits.consolePasswordCharactersMax + more);
      const token = await new PasswordAccess(password).logIn(password, nowMs);
      expect(token !== undefined).toBe(more === 0);
    }
  });

  it("[N2] ends with the password, and isn't one that somebody else has signed or changed", async () => {
    const token = (await access.logIn("the password of the console", nowMs))?.token ?? "";
    expect(await new PasswordAccess("a new password").endOf(token, nowMs)).toBeUndefined();
    const [header = "", payload = "", signature = ""] = token.split(".");
    const longer = Buffer.from(payload, "base64url")
      .toString()
      .replace(/"exp":\d+/, '"exp":9999999999');
    const changed = Buffer.from(longer).toString("base64url");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    for (const forged of [
      `${header}.${changed}.${signature}`,
      `${none}.${payload}.`,
      "",
      "not a token",
    ])
      expect(await access.endOf(forged, nowMs)).toBeUndefined();
  });

  it("[N2] isn't a client's token, even one that is signed with the password", async () => {
    const key = new TextEncoder().encode("the password of the console");
    const token = await new SignJWT({ sub: "ada" })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime(9_999_999_999)
      .sign(key);
    expect(await access.endOf(token, nowMs)).toBeUndefined();
  });
});

describe("an assertion of Cloudflare Access", () => {
  const audience = "a".repeat(64);
  let keys: CryptoKeyPair;
  let access: TeamAccess;

  beforeAll(async () => {
    keys = await generateKeyPair("RS256", { extractable: true });
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: "one", alg: "RS256", use: "sig" };
    const set = parseKeySet(JSON.stringify({ keys: [jwk] }));
    access = new TeamAccess({ team: "example.cloudflareaccess.com", audience }, async () => set);
  });

  function assertion(claims: object, kid = "one"): Promise<string> {
    const right = {
      iss: "https://example.cloudflareaccess.com",
      aud: [audience],
      exp: nowMs / 1_000 + 60,
      email: "ada@example.com",
    };
    return new SignJWT({ ...right, ...claims })
      .setProtectedHeader({ alg: "RS256", kid })
      .sign(keys.privateKey);
  }

  it("[N2] lets in whom the team lets through to this application", async () => {
    expect(await access.endOf(await assertion({}), nowMs)).toBe(nowMs / 1_000 + 60);
  });

  it.each([
    ["of another application", { aud: ["b".repeat(64)] }],
    ["of another team", { iss: "https://other.cloudflareaccess.com" }],
    ["that has ended", { exp: nowMs / 1_000 - 1 }],
    ["without an end", { exp: undefined }],
  ])("[N2] lets nobody in with one %s", async (_, claims) => {
    expect(await access.endOf(await assertion(claims), nowMs)).toBeUndefined();
  });

  it("[N2] lets nobody in with an unknown key, another key's signature, or what is no token", async () => {
    expect(await access.endOf(await assertion({}, "two"), nowMs)).toBeUndefined();
    const others = await generateKeyPair("RS256");
    const forged = await new SignJWT({
      aud: [audience],
      iss: "https://example.cloudflareaccess.com",
    })
      .setProtectedHeader({ alg: "RS256", kid: "one" })
      .setExpirationTime(9_999_999_999)
      .sign(others.privateKey);
    expect(await access.endOf(forged, nowMs)).toBeUndefined();
    expect(await access.endOf("a.b.c", nowMs)).toBeUndefined();
  });

  it("[B1] [N2] isn't read if it is too long", async () => {
    const max = consoleLimits.consoleAssertionCharactersMax;
    const { length } = await assertion({ more: "" });
    // In base64, three further bytes are four characters.
    const bytes = Math.floor((max - length) / 4) * 3;
    const longest = await assertion({ more: "x".repeat(bytes) });
    expect(longest.length).toBeGreaterThan(max - 4);
    expect(await access.endOf(longest, nowMs)).toBeDefined();
    const longer = await assertion({ more: "x".repeat(bytes + 3) });
    expect(await access.endOf(longer, nowMs)).toBeUndefined();
  });
});
