import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/parse-config.ts";

const url = "http://backend:3000/hooks";
const events = { target: url, types: ["publication"] };
const hook = { enabled: true, endpoint: url };
const plain = {
  client: { proxy: { connect: hook } },
  channel: { proxy: { publish: { endpoint: url } } },
  proxies: [{ name: "other", endpoint: url }],
  events,
};
const selfHosted = { selfHosted: true };

function problemsOf(...given: Parameters<typeof parseConfig>): readonly string[] {
  const parsed = parseConfig(...given);
  return parsed.outcome === "bad" ? parsed.problems : [];
}

describe("endpoints without TLS", () => {
  it.each([selfHosted, { development: true }])(
    "[A20] are taken with insecure_endpoints, which is noted: %j",
    (place) => {
      expect(parseConfig({ insecure_endpoints: true, ...plain }, place)).toMatchObject({
        outcome: "config",
        config: {
          hooks: { connect: { endpoint: { kind: "url", url } } },
          events: { target: { kind: "url", url } },
        },
        notes: [
          "insecure_endpoints lets the URLs of hooks and events be http, which encrypts nothing",
        ],
      });
    },
  );

  it("[A20] are refused on Cloudflare, whatever the configuration says", () => {
    const problems = problemsOf({ insecure_endpoints: true, ...plain });
    expect(problems).toHaveLength(5);
    expect(problems[0]).toBe("insecure_endpoints is for npm run serve and npm start only");
    for (const problem of problems.slice(1)) expect(problem).toMatch(/localhost only\)$/);
    expect(problemsOf({ insecure_endpoints: false })).toEqual([]);
  });

  it("[A20] are refused without it, with a word on it where it exists", () => {
    const problems = problemsOf(plain, selfHosted);
    expect(problems).toHaveLength(4);
    for (const problem of problems)
      expect(problem).toContain("(http is allowed for localhost only, or with insecure_endpoints)");
  });

  it.each([
    "http://user:secret@backend/",
    "http://backend/#part",
    "ftp://backend/",
    "http:///hooks",
    "httpx://backend/",
  ])("[A20] have the form of others: %s", (endpoint) => {
    const config = { insecure_endpoints: true, rpc: { proxy: { endpoint } } };
    expect(problemsOf(config, selfHosted)).toHaveLength(1);
  });

  it("[A20] are no place for the keys of tokens", () => {
    const token = { jwks_public_endpoint: "http://keycloak:8080/certs" };
    const config = { insecure_endpoints: true, client: { token } };
    expect(problemsOf(config, selfHosted)).toHaveLength(1);
  });
});
