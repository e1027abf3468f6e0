import { describe, expect, it } from "vitest";
import { configurationOf } from "../../../workers/platform/configuration.ts";

const secrets = { API_KEY: "key", TOKEN_HMAC_SECRET_KEY: "hmac" };

describe("the configuration of an environment", () => {
  it("has the secrets and the parsed settings", () => {
    const configuration = configurationOf({
      ...secrets,
      config: `{"http_api":{"error_mode":"transport"}}`,
    });
    expect(configuration).toMatchObject({
      outcome: "configured",
      config: { httpApi: { errorMode: "transport" } },
      secrets: { apiKey: "key", tokenHmacSecretKey: "hmac" },
    });
  });

  it("is parsed once per environment", () => {
    const env = { ...secrets };
    expect(configurationOf(env)).toBe(configurationOf(env));
    expect(configurationOf({ ...secrets })).not.toBe(configurationOf(env));
  });

  it("names everything that is missing or wrong, at once", () => {
    const configuration = configurationOf({ API_KEY: "", config: { clientt: {} } });
    if (configuration.outcome === "configured") throw new Error("unexpectedly configured");
    const [apiKey, hmac, ...others] = configuration.problems;
    expect(apiKey).toBe(`secret API_KEY is missing: set it with "wrangler secret put API_KEY"`);
    expect(hmac).toBe(
      `secret TOKEN_HMAC_SECRET_KEY is missing: set it with "wrangler secret put TOKEN_HMAC_SECRET_KEY"`,
    );
    expect(others.join()).toContain("clientt");
  });

  it("adds the origins of development to the configured ones", () => {
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
});
