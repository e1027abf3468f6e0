import { consoleAccess } from "../../../../workers/features/console/console-access.ts";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../src/config/parse-config.ts";
import { namedSecretNames } from "../../../../src/config/secret-uses.ts";
import { configurationOf, type Settings } from "../../../../workers/platform/configuration.ts";

const audience = "0123456789abcdef".repeat(4);
const access = { access_team_domain: "example.cloudflareaccess.com", access_audience: audience };

function parsed(console: object) {
  const result = parseConfig({ console });
  if (result.outcome === "bad") throw new Error(result.problems.join());
  return result.config;
}

describe("the section console", () => {
  it("[N1] is off where nobody says anything, and counts nothing then", () => {
    expect(parsed({}).console).toBeUndefined();
    expect(parsed({}).prometheus).toEqual({ enabled: false, counts: false });
    expect(parsed({ enabled: false }).console).toEqual({ enabled: false });
  });

  it("[N1] [J1] needs a password unless there is Cloudflare Access, and counts", () => {
    const config = parsed({ enabled: true });
    expect(namedSecretNames(config)).toContain("CONSOLE_PASSWORD");
    expect(config.prometheus).toEqual({ enabled: false, counts: true });
    const behindAccess = parsed({ enabled: true, ...access });
    expect(namedSecretNames(behindAccess)).not.toContain("CONSOLE_PASSWORD");
    expect(behindAccess.console).toEqual({
      enabled: true,
      access: { team: "example.cloudflareaccess.com", audience },
    });
  });

  it.each([
    [{ enabled: true, access_team_domain: access.access_team_domain }, "console.access_audience"],
    [{ enabled: true, access_audience: audience }, "console.access_team_domain"],
    [{ ...access }, "console.enabled"],
    [
      { enabled: true, ...access, access_team_domain: "evil.example.com" },
      "console.access_team_domain",
    ],
    [{ enabled: true, ...access, access_audience: "short" }, "console.access_audience"],
    [{ enabled: "yes" }, "console.enabled"],
    [{ password: "x" }, "console.password"],
  ])("[A8] refuses %j and names the key", (section, key) => {
    const result = parseConfig({ console: section });
    if (result.outcome === "config") throw new Error("unexpectedly taken");
    expect(result.problems.join("\n")).toContain(key);
  });
});

describe("the console of a Worker", () => {
  const secrets = {
    API_KEY: "the-api-key-of-the-test",
    TOKEN_HMAC_SECRET_KEY: "the-hmac-secret-of-the-test",
  };
  const password = { CONSOLE_PASSWORD: "the-password-of-the-test" };

  function consoleOf(more: Settings): string | undefined {
    const configuration = configurationOf({ ...secrets, ...more });
    if (configuration.outcome === "unconfigured") return configuration.problems.join();
    return consoleAccess(configuration)?.kind;
  }

  it("[N1] is off by default, also where there is a password, and on under npm start", () => {
    expect(consoleOf({ ...password })).toBeUndefined();
    expect(consoleOf({ ...password, DEVELOPMENT: "true" })).toBe("password");
    // Whoever has an older .dev.vars starts without the console.
    expect(consoleOf({ DEVELOPMENT: "true" })).toBeUndefined();
    const off = { config: { console: { enabled: false } } };
    expect(consoleOf({ ...password, ...off, DEVELOPMENT: "true" })).toBeUndefined();
  });

  it("[N1] [A10] needs the password, which isn't weak, public or another secret", () => {
    const config = { console: { enabled: true } };
    expect(consoleOf({ config })).toContain("secret CONSOLE_PASSWORD is missing");
    expect(consoleOf({ config, ...password })).toBe("password");
    const weak: readonly (readonly [string, string])[] = [
      ["short", "CONSOLE_PASSWORD has fewer than"],
      ["development-console-password", "CONSOLE_PASSWORD has the value in .dev.vars.example"],
      [secrets.API_KEY, "CONSOLE_PASSWORD is equal to secret API_KEY"],
    ];
    for (const [value, problem] of weak)
      expect(consoleOf({ config, CONSOLE_PASSWORD: value })).toContain(problem);
  });

  it("[N2] takes no password beside Cloudflare Access", () => {
    expect(consoleOf({ ...password, config: { console: { enabled: true, ...access } } })).toBe(
      "access",
    );
  });
});
