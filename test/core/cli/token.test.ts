import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readToken } from "../../../cli/token/token-claims.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";
import { developmentSecrets, nowMs, recordedShell } from "./recorded-shell.ts";

const nowSeconds = nowMs / 1_000;
const files = { ".dev.vars": developmentSecrets };

/** Runs `dormouse token`, and gives the claims of what it prints. */
async function claimsOf(...args: readonly string[]) {
  const { code, printed } = await recordedShell(files)(["token", ...args]);
  expect(code).toBe(0);
  return readToken(printed)?.claims;
}

describe("[A2] dormouse token", () => {
  it("signs a connection token of a user, valid for 7 days", async () => {
    expect(await claimsOf("ada")).toEqual({
      sub: "ada",
      iat: nowSeconds,
      exp: nowSeconds + 604_800,
    });
  });

  it("signs all claims of a connection token", async () => {
    const args = [
      ["--ttl", "0", "--expire-at", String(nowSeconds + 60), "--info", '{"name":"Ada"}'],
      ["--meta", "[1]", "--channels", "news", "sports", "--jti", "one", "--audience", "app"],
      ["--caps", '[{"channels":["a*"],"match":"wildcard","allow":["pub"]}]'],
      ["--claim", "plan=2", "--claim", 'x={"y":[]}'],
    ];
    const claims = await claimsOf("ada", ...args.flat());
    expect(claims).toEqual({
      sub: "ada",
      iat: nowSeconds,
      expire_at: nowSeconds + 60,
      info: { name: "Ada" },
      meta: [1],
      channels: ["news", "sports"],
      jti: "one",
      aud: "app",
      caps: [{ channels: ["a*"], match: "wildcard", allow: ["pub"] }],
      plan: 2,
      x: { y: [] },
    });
  });

  it("signs a subscription token", async () => {
    expect(
      await claimsOf("ada", "--channel", "$room", "--override", "presence=true", "--data", "1"),
    ).toMatchObject({
      sub: "ada",
      channel: "$room",
      override: { presence: { value: true } },
      data: 1,
    });
  });

  it("names the user as the configuration says, and signs with an issuer's secret", async () => {
    const config = {
      client: {
        token: {
          issuers: [
            {
              issuer: "app",
              hmac_secret: "TOKEN_HMAC_SECRET_KEY_APP",
              user_id_claim: "https://x/id",
            },
          ],
        },
      },
    };
    const runIt = recordedShell({ "wrangler.jsonc": JSON.stringify({ vars: { config } }) });
    const environment = { TOKEN_HMAC_SECRET_KEY_APP: "the-secret-of-the-issuer" };
    const signed = await runIt(["token", "ada", "--issuer", "app"], { environment });
    expect(readToken(signed.printed)?.claims).toMatchObject({ iss: "app", "https://x/id": "ada" });
    const checked = await runIt(["token", "--check", "-"], { environment, input: signed.printed });
    expect(checked.printed).toContain("The server accepts this connection token.");
    expect((await runIt(["token", "ada"], { environment })).noted).toContain("--issuer");
  });

  it("signs with a private key", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    const runIt = recordedShell({ "key.pem": pem, "other.pem": "hunter2" });
    const args = ["token", "ada", "--algorithm", "ES256", "--key-id", "k1", "--key"];
    const signed = await runIt([...args, "key.pem"]);
    expect(readToken(signed.printed)?.header).toEqual({ alg: "ES256", typ: "JWT", kid: "k1" });
    const refused = await runIt([...args, "other.pem"]);
    expect([refused.code, refused.noted]).toEqual([
      2,
      "--key isn't a private key for ES256 as PKCS #8 in PEM",
    ]);
  });

  it.each([
    ["an unknown capability", ["--caps", '[{"channels":["a"],"allow":["fly"]}]'], "caps"],
    ["an end in the past", ["--expire-at", "5"], "expire_at is in the past"],
    ["a claim of a wrong type", ["--claim", "jti=5"], "jti"],
    ["a time from which it is valid", ["--not-before", String(nowSeconds + 60)], "nbf"],
  ])("refuses %s, as the server would", async (_, args, reason) => {
    const { code, printed, noted } = await recordedShell(files)(["token", "ada", ...args]);
    expect([code, printed]).toEqual([1, ""]);
    expect(noted).toMatch(/^the server would refuse this token: /);
    expect(noted).toContain(reason);
  });

  it("[A7] quotes no value of an option that it doesn't understand", async () => {
    const { code, noted } = await recordedShell(files)(["token", "ada", "--info", "{hunter2"]);
    expect(code).toBe(2);
    expect(noted).toContain("--info <json>");
    expect(noted).not.toContain("hunter2");
  });

  it("says which secret is missing", async () => {
    const { code, noted } = await recordedShell()(["token", "ada"]);
    expect([code, noted]).toEqual([
      2,
      "TOKEN_HMAC_SECRET_KEY is missing: set it in the environment, or write it into .dev.vars",
    ]);
  });
});

describe("[A2] dormouse token --check", () => {
  const environment = testSecrets;
  const check = (token: string, ...args: readonly string[]) =>
    recordedShell(files)(["token", "--check", "-", ...args], { environment, input: `${token}\n` });

  it("explains each claim of a good token", async () => {
    const token = signToken({ sub: "ada", exp: nowSeconds + 7_300, plan: "gold" });
    const { code, printed } = await check(token);
    expect(code).toBe(0);
    expect(printed).toBe(`The server accepts this connection token.
Signed with HS256.

sub   ada         the user
exp   1795356100  2026-11-22T14:01:40Z (in 2 hours): the token's end; without expire_at, also that of the connection or subscription
plan  gold        ignored`);
  });

  it.each([
    ["another secret", signToken({ sub: "ada" }, "another-secret"), "TOKEN_HMAC_SECRET_KEY"],
    ["an end in the past", signToken({ sub: "ada", exp: nowSeconds - 60 }), "exp was 60 s ago"],
    ["no end of a token", signToken({ sub: "ada", exp: "soon" }), '"exp"'],
  ])("says why the server refuses %s", async (_, token, reason) => {
    const { code, printed } = await check(token);
    expect(code).toBe(1);
    expect(printed).toMatch(/^The server refuses, as (?:invalid|expired), this connection token: /);
    expect(printed.split("\n")[0]).toContain(reason);
  });

  it.each([
    [{ sub: "43", channel: "$club:8" }, "Only for user 43 and channel $club:8."],
    [{ sub: "43", channel: "a", client: "c1" }, "Only for user 43, client c1, and channel a."],
    [{ channel: "a" }, "Only for clients without a user and channel a."],
  ])("[A4] says for whom a subscription token is: %j", async (claims, line) => {
    expect((await check(signToken(claims))).printed.split("\n")[1]).toBe(line);
  });

  it("knows a subscription token by its channel", async () => {
    const { printed } = await check(signToken({ sub: "ada", channel: "news" }), "--json");
    expect(JSON.parse(printed)).toMatchObject({
      kind: "subscription token",
      verdict: "verified",
      claims: { channel: "news" },
    });
  });

  it("[A7] doesn't print a text that isn't a token", async () => {
    const { code, printed, noted } = await check("hunter2");
    expect(code).toBe(1);
    expect(`${printed}${noted}`).not.toContain("hunter2");
  });

  it("[A7] says --check for a token in the place of a user, and doesn't print it", async () => {
    const run = recordedShell(files);
    const { printed: token } = await run(["token", "ada"]);
    const { code, noted } = await run(["token", token]);
    expect([code, noted]).toEqual([2, "that is a token, not a user's ID: explain it with --check"]);
  });
});
