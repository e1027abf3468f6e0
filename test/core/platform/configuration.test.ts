import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { noteRefusal } from "../../../workers/platform/refusal-log.ts";
import { configurationOf, type Settings } from "../../../workers/platform/configuration.ts";
import { TokenVerifier } from "../../../workers/platform/token-verifier.ts";

const apiKey = "the-api-key-of-the-test";
const secrets = { API_KEY: apiKey, TOKEN_HMAC_SECRET_KEY: "the-hmac-secret-of-the-test" };

describe("the configuration of an environment", () => {
  it("[A8] has the secrets and the parsed settings", () => {
    const configuration = configurationOf({
      ...secrets,
      config: `{"http_api":{"error_mode":"transport"}}`,
    });
    expect(configuration).toMatchObject({
      outcome: "configured",
      config: { httpApi: { errorMode: "transport" } },
      secrets: { apiKeys: [{ key: { name: "API_KEY" }, value: apiKey }] },
      verifier: expect.any(TokenVerifier),
    });
  });

  it("is parsed once per environment", () => {
    const env = { ...secrets };
    expect(configurationOf(env)).toBe(configurationOf(env));
    expect(configurationOf({ ...secrets })).not.toBe(configurationOf(env));
  });

  it("[A8] names everything that is missing or wrong, at once", () => {
    const configuration = configurationOf({ API_KEY: "", config: { clientt: {} } });
    if (configuration.outcome === "configured") throw new Error("unexpectedly configured");
    const [key, hmac, ...others] = configuration.problems;
    expect(key).toBe(`secret API_KEY is missing: set it with "wrangler secret put API_KEY"`);
    expect(hmac).toBe(
      `secret TOKEN_HMAC_SECRET_KEY is missing: set it with "wrangler secret put TOKEN_HMAC_SECRET_KEY"`,
    );
    expect(others.join()).toContain("clientt");
  });

  it("[A8] tells whoever asks no value of an invalid one, and the log what is wrong with it", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    try {
      const config = {
        client: {
          allowed_origins: ["intranet.example.com"],
          token: { issuer_regex: "(internal" },
          subscribe_to_user_personal_channel: { personal_channel_namespace: "hidden" },
        },
        channel: {
          namespaces: [{ name: "acquisition", channel_regex: "(plan", history_size: -7 }],
        },
      };
      const configuration = configurationOf({ ...secrets, config });
      if (configuration.outcome === "configured") throw new Error("unexpectedly configured");
      const keys = configuration.problems.map((problem) => problem.split(" ")[0]);
      expect(new Set(keys)).toEqual(
        new Set([
          "channel.namespaces[0].channel_regex",
          "channel.namespaces[0].history_size",
          "client.allowed_origins[0]",
          "client.subscribe_to_user_personal_channel.personal_channel_namespace",
          "client.token.issuer_regex",
        ]),
      );
      const values = ["intranet", "(internal", "hidden", "acquisition", "(plan", "-7"];
      const [[logged] = []] = warn.mock.calls;
      for (const value of values) {
        expect(configuration.problems.join("\n")).not.toContain(value);
        expect(logged).toContain(value);
      }
    } finally {
      warn.mockRestore();
    }
  });

  it("[A8] names the line to write where a secret is missing in development", () => {
    const env = { ...secrets, API_KEY: "", DEVELOPMENT: "true" };
    expect(configurationOf(env)).toStrictEqual({
      outcome: "unconfigured",
      problems: [
        'secret API_KEY is missing: write the line API_KEY="…" into .dev.vars, and start it again',
      ],
    });
  });

  it("[A10] is none with secrets that everybody knows, except in development", () => {
    const env = { ...secrets, API_KEY: "development-api-key" };
    expect(configurationOf(env)).toStrictEqual({
      outcome: "unconfigured",
      problems: ["secret API_KEY has the value in .dev.vars.example, which is public"],
    });
    expect(configurationOf({ ...env, DEVELOPMENT: "false" }).outcome).toBe("unconfigured");
    expect(configurationOf({ ...env, DEVELOPMENT: "true" }).outcome).toBe("configured");
  });

  it("[A11] has insecure modes in development only", () => {
    const env = { ...secrets, config: { http_api: { insecure: true } } };
    expect(configurationOf(env)).toMatchObject({
      problems: ["http_api.insecure is for npm start only"],
    });
    expect(configurationOf({ ...env, DEVELOPMENT: "true" })).toMatchObject({
      config: { httpApi: { insecure: true } },
    });
  });

  it("[W13] lets clients be told reasons in development only", () => {
    expect(configurationOf({ ...secrets, DEVELOPMENT: "true" })).toMatchObject({
      config: { client: { tellsReasons: true } },
    });
    for (const env of [{}, { SELF_HOSTED: "true" }])
      expect(configurationOf({ ...secrets, ...env })).not.toHaveProperty(
        "config.client.tellsReasons",
      );
  });

  it("[A20] has insecure_endpoints where it is hosted by npm run serve, or in development", () => {
    const env = { ...secrets, config: { insecure_endpoints: true } };
    expect(configurationOf(env)).toMatchObject({
      problems: ["insecure_endpoints is for npm run serve and npm start only"],
    });
    for (const place of ["SELF_HOSTED", "DEVELOPMENT"])
      expect(configurationOf({ ...env, [place]: "true" }).outcome).toBe("configured");
    expect(configurationOf({ ...env, SELF_HOSTED: "false" }).outcome).toBe("unconfigured");
    const insecure = { ...secrets, SELF_HOSTED: "true", config: { http_api: { insecure: true } } };
    expect(configurationOf(insecure).outcome).toBe("unconfigured");
  });

  it("[A6] adds the origins of development to the configured ones", () => {
    const configuration = configurationOf({
      ...secrets,
      config: { client: { allowed_origins: ["https://example.com"] } },
      DEVELOPMENT_ORIGINS: "http://localhost:5173, http://127.0.0.1:*,",
    });
    expect(configuration).toMatchObject({
      config: {
        client: {
          allowedOrigins: ["https://example.com", "http://localhost:5173", "http://127.0.0.1:*"],
        },
      },
    });
  });

  const { publicKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const eddsa = { eddsa_public_key: pem };
  const jwks = { jwks_public_endpoint: "https://example.com/keys" };
  const previous = { TOKEN_HMAC_PREVIOUS_SECRET_KEY: "the-previous-secret" };
  const both = {
    ...secrets,
    SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY: "the-secret-of-subscriptions",
    config: { client: { subscription_token: { enabled: true } } },
  };

  it.each<[string, Settings]>([
    ["a public key", { API_KEY: apiKey, config: { client: { token: eddsa } } }],
    ["a JWKS", { API_KEY: apiKey, config: { client: { token: jwks } } }],
    ["secrets for both kinds of token", both],
    [
      "a secret, and a JWKS for subscription tokens",
      { ...secrets, config: { client: { subscription_token: { enabled: true, ...jwks } } } },
    ],
  ])("[A8] can do with %s to verify tokens with", (_, env) => {
    expect(configurationOf(env).outcome).toBe("configured");
  });

  it.each<[string, string, Settings]>([
    ["TOKEN_HMAC_SECRET_KEY", "nothing", { API_KEY: apiKey }],
    ["TOKEN_HMAC_SECRET_KEY", "the previous secret alone", { API_KEY: apiKey, ...previous }],
    [
      "TOKEN_HMAC_SECRET_KEY",
      "a public key for subscription tokens alone",
      { API_KEY: apiKey, config: { client: { subscription_token: { enabled: true, ...eddsa } } } },
    ],
    [
      "SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY",
      "nothing for subscription tokens",
      { ...both, SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY: "" },
    ],
  ])("[A8] lacks %s with %s to verify tokens with", (name, _, env) => {
    expect(configurationOf(env)).toStrictEqual({
      outcome: "unconfigured",
      problems: [`secret ${name} is missing: set it with "wrangler secret put ${name}"`],
    });
  });

  it.each([
    ["SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY"],
    ["SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY"],
  ])("[A8] serves with %s before subscription tokens are enabled, and says so", (name) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    try {
      for (const config of [{}, { client: { subscription_token: { enabled: false } } }]) {
        const configuration = configurationOf({
          ...secrets,
          [name]: "hunter2-hunter2-hunter2",
          config,
        });
        expect(configuration.outcome).toBe("configured");
      }
      const warning =
        "secret SUBSCRIPTION_TOKEN_HMAC_SECRET_KEY has no effect unless client.subscription_token is enabled";
      expect(warn.mock.calls).toStrictEqual([[warning], [warning]]);
    } finally {
      warn.mockRestore();
    }
  });

  const keys = [
    { name: "billing", secret: "API_KEY_BILLING", methods: ["publish"], channels: ["billing:*"] },
    { name: "shop", secret: "API_KEY_SHOP", methods: ["*"], channels: ["*"] },
  ];

  it("[A31] has the keys of the API with what they admit, and those before them", () => {
    const env = {
      ...secrets,
      API_KEY_PREVIOUS: "the-api-key-before-it",
      API_KEY_BILLING: "the-key-of-billing",
      API_KEY_BILLING_PREVIOUS: "billing-before-it",
      API_KEY_SHOP: "the-key-of-the-shop",
      config: { http_api: { keys } },
    };
    const configuration = configurationOf(env);
    const rights = { methods: ["publish"], channels: ["billing:*"] };
    expect(configuration).toMatchObject({
      secrets: {
        apiKeys: [
          { key: { name: "API_KEY" }, value: apiKey },
          { key: { name: "API_KEY_PREVIOUS" }, value: "the-api-key-before-it" },
          { key: { name: "billing", rights }, value: "the-key-of-billing" },
          { key: { name: "billing", rights }, value: "billing-before-it" },
          { key: { name: "shop", rights: { channels: ["*"] } }, value: "the-key-of-the-shop" },
        ],
      },
    });
  });

  it("[A8] [A10] [A14] says which keys are missing, weak or the same, and not their values", () => {
    const env = { ...secrets, API_KEY_BILLING: "short", config: { http_api: { keys } } };
    expect(configurationOf(env)).toStrictEqual({
      outcome: "unconfigured",
      problems: [
        "secret API_KEY_BILLING has fewer than 16 characters",
        `secret API_KEY_SHOP is missing: set it with "wrangler secret put API_KEY_SHOP"`,
      ],
    });
    const same = { ...env, API_KEY_BILLING: apiKey, API_KEY_SHOP: "the-key-of-the-shop" };
    expect(configurationOf(same)).toMatchObject({
      problems: ["secret API_KEY_BILLING is equal to secret API_KEY"],
    });
  });

  it("[A8] takes both secrets for subscription tokens where they count", () => {
    const more = { SUBSCRIPTION_TOKEN_HMAC_PREVIOUS_SECRET_KEY: "the-previous-secret" };
    expect(configurationOf({ ...both, ...more }).outcome).toBe("configured");
  });
});

describe("the level of the log", () => {
  it("[A13] leaves lines of refusals out, and must be one that there is", (test) => {
    const lines = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    test.onTestFinished(() => {
      lines.mockRestore();
      configurationOf({ ...secrets });
    });
    const written = (level: object): number => {
      lines.mockClear();
      expect(configurationOf({ ...secrets, ...level }).outcome).toBe("configured");
      noteRefusal({ refused: "subscribe", rule: "A1", reason: "for a test" }, undefined);
      return lines.mock.calls.length;
    };
    const warn = { LOG_LEVEL: "warn" };
    expect([warn, { LOG_LEVEL: "error" }, {}].map(written)).toEqual([1, 0, 1]);
    expect(configurationOf({ ...secrets, LOG_LEVEL: "debug" })).toMatchObject({
      problems: ["variable LOG_LEVEL must be warn or error"],
    });
  });

  it.each(["2147483648", "1e12", "Infinity", "-1", "often"])(
    "[T6] refuses an interval of probes that no timer takes: %s",
    (interval) => {
      expect(configurationOf({ ...secrets, STREAM_PROBE_MS: interval })).toMatchObject({
        problems: ["variable STREAM_PROBE_MS must be a number of ms, less than 2147483648"],
      });
      const longest = configurationOf({ ...secrets, STREAM_PROBE_MS: "2147483647" });
      expect(longest.outcome).toBe("configured");
    },
  );
});
