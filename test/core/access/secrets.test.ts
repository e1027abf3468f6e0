import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import {
  secretPair,
  secretProblems,
  type Secrets,
  secretsIn,
  type SecretUse,
} from "../../../src/access/secrets.ts";
import { secretUses } from "../../../src/config/secret-uses.ts";
import { limits } from "../../../src/limits.ts";
import { configured } from "../../support/configured.ts";

const good = "a-long-enough-secret";
const previous = "the-secret-before-this-one";

/** The problems of secrets on a deployed Worker. */
function problems(secrets: Secrets, ...named: readonly SecretUse[]): readonly string[] {
  return secretProblems(secrets, [...secretUses(undefined), ...named], false);
}

/** The names of the secrets that a Worker with this section of the configuration uses. */
function usedBy(client: object): readonly string[] {
  return secretUses(configured({ client })).map(({ name }) => name);
}

describe("secrets", () => {
  it.each([
    [" ", "consists of white space"],
    ["\n", "consists of white space"],
    [`${good}\n`, "ends with a line break"],
    [`${good}\r\n`, "ends with a line break"],
    [`${good} `, "begins or ends with white space"],
    [`\t${good}`, "begins or ends with white space"],
    ["development-api-key ", "begins or ends with white space"],
    ["x", "has fewer than 16 characters"],
    ["fifteen-letters", "has fewer than 16 characters"],
    ["x".repeat(64), "repeats one character"],
  ])("[A10] of the value %j aren't good enough: it %s", (value, problem) => {
    for (const name of ["API_KEY", "API_KEY_PREVIOUS", "TOKEN_HMAC_PREVIOUS_SECRET_KEY"])
      expect(problems({ [name]: value })).toStrictEqual([`secret ${name} ${problem}`]);
  });

  it.each([
    "${API_KEY:-development}",
    "{{ .Values.apiKey }}",
    "<your-api-key-here>",
    "%API_KEY_OF_PROD%",
  ])("[A10] are no placeholders, under npm start neither: %s", (value) => {
    const named = "secret API_KEY is a placeholder, which nothing has replaced by a value";
    for (const development of [false, true])
      expect(secretProblems({ API_KEY: value }, secretUses(undefined), development)).toEqual([
        named,
      ]);
    expect(problems({ API_KEY: `${value}x` })).toEqual([]);
  });

  it("[A10] [B1] have as many characters as make guesses vain", () => {
    const shortest = "0123456789abcdefghijklmnopqrstuv".slice(0, limits.secretCharactersMin);
    expect(problems({ API_KEY: shortest })).toEqual([]);
    expect(problems({ API_KEY: shortest.slice(1) })).toEqual([
      `secret API_KEY has fewer than ${limits.secretCharactersMin} characters`,
    ]);
  });

  const example = parseEnv(readFileSync("examples/.dev.vars.example", "utf8"));
  it.each(Object.values(example))("[A10] of the example are public: %s", (value = "") => {
    expect(problems({ SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY: value })).toStrictEqual([
      "secret SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY has the value in .dev.vars.example, which is public",
    ]);
  });

  it.each([
    ["TOKEN_HMAC_SECRET_KEY", "API_KEY"],
    ["TOKEN_HMAC_SECRET_KEY", "API_KEY_PREVIOUS"],
    ["TOKEN_HMAC_PREVIOUS_SECRET_KEY", "API_KEY"],
    ["SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY", "API_KEY"],
    ["SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY", "API_KEY"],
    ["SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY", "TOKEN_HMAC_SECRET_KEY"],
  ])("[A10] for different uses differ: %s isn't %s", (second, first) => {
    expect(problems({ [first]: good, [second]: good })).toStrictEqual([
      `secret ${second} is equal to secret ${first}`,
    ]);
  });

  it("[A10] may be equal while they are rotated, or missing", () => {
    expect(problems({ TOKEN_HMAC_SECRET_KEY: good, TOKEN_HMAC_PREVIOUS_SECRET_KEY: good })).toEqual(
      [],
    );
    const former = { SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY: good };
    expect(problems({ TOKEN_HMAC_SECRET_KEY: good, ...former })).toEqual([]);
    expect(problems({ API_KEY: "", TOKEN_HMAC_PREVIOUS_SECRET_KEY: previous })).toEqual([]);
    expect(problems({ API_KEY: good, API_KEY_PREVIOUS: good })).toEqual([]);
  });

  const named = [
    ...secretPair("API_KEY_BILLING", "api"),
    ...secretPair("API_KEY_SHOP", "api"),
    ...secretPair("TOKEN_HMAC_SECRET_KEY_A", "issuer"),
    ...secretPair("TOKEN_HMAC_SECRET_KEY_B", "issuer"),
  ];
  it.each([
    ["API_KEY_BILLING", "API_KEY"],
    ["API_KEY_BILLING_PREVIOUS", "API_KEY"],
    ["API_KEY_BILLING", "API_KEY_PREVIOUS"],
    ["API_KEY_BILLING", "TOKEN_HMAC_SECRET_KEY"],
    ["API_KEY_SHOP", "API_KEY_BILLING"],
    ["API_KEY_SHOP", "API_KEY_BILLING_PREVIOUS"],
    ["TOKEN_HMAC_SECRET_KEY_A", "API_KEY"],
    ["TOKEN_HMAC_SECRET_KEY_A", "API_KEY_SHOP"],
    ["TOKEN_HMAC_SECRET_KEY_A", "TOKEN_HMAC_SECRET_KEY"],
    ["TOKEN_HMAC_SECRET_KEY_B", "TOKEN_HMAC_SECRET_KEY_A"],
    ["TOKEN_HMAC_SECRET_KEY_B", "TOKEN_HMAC_SECRET_KEY_A_PREVIOUS"],
    ["TOKEN_HMAC_SECRET_KEY_B_PREVIOUS", "TOKEN_HMAC_SECRET_KEY_A"],
  ])("[A10] [A14] [A15] that the configuration names differ: %s isn't %s", (second, first) => {
    expect(problems({ [first]: good, [second]: good }, ...named)).toStrictEqual([
      `secret ${second} is equal to secret ${first}`,
    ]);
  });

  it("[A10] [A14] that the configuration names are as good as the others", () => {
    const secrets = { API_KEY_BILLING: "x", API_KEY_BILLING_PREVIOUS: "y ", API_KEY_SHOP: "z" };
    expect(problems(secrets, ...secretPair("API_KEY_BILLING", "api"))).toStrictEqual([
      "secret API_KEY_BILLING has fewer than 16 characters",
      "secret API_KEY_BILLING_PREVIOUS begins or ends with white space",
    ]);
    const rotated = { API_KEY_BILLING: good, API_KEY_BILLING_PREVIOUS: good };
    expect(problems(rotated, ...named)).toEqual([]);
  });

  const jwks = { issuer: "a", jwks_public_endpoint: "https://a.example/keys" };
  const shared = { issuer: "b", hmac_secret: "TOKEN_HMAC_SECRET_KEY_B" };
  it("[A15] have no use if they have no effect beside issuers, and one use for both kinds of token", () => {
    expect(usedBy({})).toStrictEqual(secretUses(undefined).map(({ name }) => name));
    expect(usedBy({ token: { issuers: [jwks] } })).toStrictEqual([
      "API_KEY",
      "API_KEY_PREVIOUS",
      "HOOK_SIGNING_SECRET",
      "HOOK_SIGNING_PREVIOUS_SECRET",
      "METRICS_KEY",
      "METRICS_KEY_PREVIOUS",
      "SHARED_POLL_HMAC_SECRET_KEY",
      "SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY",
      "CONSOLE_PASSWORD",
      "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
      "SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY",
    ]);
    const both = { issuers: [jwks, shared] };
    expect(usedBy({ token: both, subscription_token: { enabled: true, ...both } })).toStrictEqual([
      "API_KEY",
      "API_KEY_PREVIOUS",
      "HOOK_SIGNING_SECRET",
      "HOOK_SIGNING_PREVIOUS_SECRET",
      "METRICS_KEY",
      "METRICS_KEY_PREVIOUS",
      "SHARED_POLL_HMAC_SECRET_KEY",
      "SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY",
      "CONSOLE_PASSWORD",
      "TOKEN_HMAC_SECRET_KEY_B",
      "TOKEN_HMAC_SECRET_KEY_B_PREVIOUS",
    ]);
  });

  it("[A10] are texts; anything else of the environment is none", () => {
    const source = { API_KEY: good, API_KEY_SHOP: "", API_KEY_BILLING: { get: "x" }, other: good };
    expect(secretsIn(source, [...secretUses(undefined), ...named])).toStrictEqual({
      API_KEY: good,
    });
  });

  it("[A10] of development may be weak, but have no white space around them", () => {
    const weak = {
      API_KEY: "x",
      TOKEN_HMAC_SECRET_KEY: "x",
      TOKEN_HMAC_PREVIOUS_SECRET_KEY: "x\n",
    };
    expect(secretProblems({ ...example, ...weak }, secretUses(undefined), true)).toStrictEqual([
      "secret TOKEN_HMAC_PREVIOUS_SECRET_KEY ends with a line break",
    ]);
  });
});
