import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { configOf, problemsOf } from "./parsed.ts";

const clientProblems = (client: object) => problemsOf({ client });

describe("[A8] the client section", () => {
  it("takes origins in lower case, and 0 for the default number of connections", () => {
    const { client } = configOf({
      client: { allowed_origins: ["HTTPS://{A,b}.C"], connection_limit: 0 },
    });
    expect(client.allowedOrigins).toEqual(["https://{a,b}.c"]);
    expect(client.connectionLimit).toBe(limits.connectionsDefault);
  });

  it("[U12] takes a limit of a user's connections where users have homes", () => {
    expect(clientProblems({ user_connection_limit: limits.userConnectionLimitMax })).toEqual([]);
    const without = { users: { enabled: false } };
    expect(clientProblems({ user_connection_limit: 0, ...without })).toEqual([]);
    expect(clientProblems({ user_connection_limit: 1, ...without })).toEqual([
      "client.user_connection_limit requires users.enabled",
    ]);
  });

  it("names each bad origin by its index", () => {
    expect(clientProblems({ allowed_origins: ["example.com", "https://a.b", 1, "/app"] })).toEqual([
      'client.allowed_origins[0]: "example.com" can never match: write "*" or an origin such as "https://example.com"',
      "client.allowed_origins[2] must be a string, found a number",
      'client.allowed_origins[3]: "/app" can never match: write "*" or an origin such as "https://example.com"',
    ]);
  });

  it.each([
    ["https://example.com/", "no path"],
    ["https://*.example.com/app", "no path"],
    ["https://{a.example.com,b.example.com/}", "no path"],
    ["*/app", "no path"],
    ["", "write"],
    ["example.*", "write"],
    ["https://a b", "ASCII"],
    ["https://bücher.example", "Punycode"],
    ["https://user@example.com", "ASCII"],
    ["https://example.com:443", "default port"],
    ["http://*:80", "default port"],
    ["https://", "a host"],
    ["https://[a", "not a glob"],
    ["https://{a,b", "not a glob"],
    ["https://[z-a]", "not a glob"],
    ["https://a\\", "not a glob"],
  ])("[A29] refuses the origin %j, which no browser sends", (pattern, why) => {
    const [problem, ...more] = clientProblems({ allowed_origins: [pattern] });
    expect(problem).toContain(`client.allowed_origins[0]: ${JSON.stringify(pattern)} `);
    expect(problem).toContain(why);
    expect(more).toEqual([]);
  });

  it("[A29] takes the origins that browsers and apps send, and Centrifugo's globs of them", () => {
    const patterns = ["*", "**", "null", "file://", "capacitor://localhost", "https://[!/]*.a.b"];
    patterns.push("*.example.com", "*//example.com", "http{s,}://a.b", "{https://a.b,http://c.d}");
    patterns.push("https://a.b:8443", "https://a.b:44?", "http://a.b:443", "https://[[]::1]:*");
    expect(clientProblems({ allowed_origins: patterns })).toEqual([]);
  });

  it.each(["a b", "a;b", "a=b", "a,b", 'a"b', "a\n", "ä", "a(b)"])(
    "refuses %j for a cookie name, without saying it",
    (name) => {
      expect(clientProblems({ token_cookie: name })).toEqual([
        "client.token_cookie is not a cookie name",
      ]);
    },
  );

  it("cuts a long value short", () => {
    expect(clientProblems({ ping_interval: "9".repeat(1_000) })).toEqual([
      `client.ping_interval: "${"9".repeat(64)}"… is not a duration such as "25s" or "1h30m" (units: h, m, s, ms)`,
    ]);
  });
});
