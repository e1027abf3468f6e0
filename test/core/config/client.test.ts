import { describe, expect, it } from "vitest";
import type { ClientConfig } from "../../../src/config/config.ts";
import { limits } from "../../../src/limits.ts";
import { configOf, problemsOf } from "./parsed.ts";

const clientProblems = (client: object) => problemsOf({ client });

describe("[A8] the client section", () => {
  const taken: readonly [string, unknown, keyof ClientConfig, unknown][] = [
    ["allowed_origins", ["*"], "allowedOrigins", ["*"]],
    ["allowed_origins", ["https://*.a.b", "x://"], "allowedOrigins", ["https://*.a.b", "x://"]],
    ["allowed_origins", ["HTTPS://{A,b}.C"], "allowedOrigins", ["https://{a,b}.c"]],
    ["allow_anonymous_connect_without_token", true, "allowAnonymousConnectWithoutToken", true],
    ["disallow_anonymous_connection_tokens", true, "disallowAnonymousConnectionTokens", true],
    ["ping_interval", "1s", "pingIntervalMs", 1_000],
    ["ping_interval", "1h", "pingIntervalMs", 3_600_000],
    ["ping_interval", "2000ms", "pingIntervalMs", 2_000],
    ["stale_close_delay", "1s", "staleCloseDelayMs", 1_000],
    ["expired_close_delay", "0", "expiredCloseDelayMs", 0],
    ["expired_sub_close_delay", "1m", "expiredSubCloseDelayMs", 60_000],
    ["queue_max_size", 65_536, "queueMaxSizeBytes", 65_536],
    ["history_max_publication_limit", 1, "historyMaxPublicationLimit", 1],
    ["history_max_publication_limit", 100_000, "historyMaxPublicationLimit", 100_000],
    ["recovery_max_publication_limit", 100_000, "recoveryMaxPublicationLimit", 100_000],
    ["connection_limit", 1, "connectionLimit", 1],
    ["connection_limit", limits.connectionsMax, "connectionLimit", limits.connectionsMax],
    ["connection_limit", 0, "connectionLimit", limits.connectionsDefault],
    ["user_connection_limit", 3, "userConnectionLimit", 3],
    ["connection_rate_limit", 0, "connectionRateLimit", 0],
    ["connection_rate_limit", 100, "connectionRateLimit", 100],
    ["channel_limit", 1, "channelLimit", 1],
    ["channel_limit", limits.channelLimitMax, "channelLimit", limits.channelLimitMax],
    ["connect_include_server_time", true, "connectIncludeServerTime", true],
    ["require_edge_token", true, "requireEdgeToken", true],
    ["pong", "auto", "pong", "auto"],
    ["pong", "always", "pong", "always"],
    ["pong", "never", "pong", "never"],
    ["token_cookie", "__Host-session", "tokenCookie", "__Host-session"],
    ["token_cookie", "", "tokenCookie", ""],
  ];
  it.each(taken)("takes %s: %j", (key, value, property, expected) => {
    const { client } = configOf({ client: { [key]: value } });
    expect(client).toStrictEqual({ ...configOf({}).client, [property]: expected });
  });

  const refused: readonly [string, unknown, string][] = [
    ["allowed_origins", "*", " must be an array of strings, found a string"],
    ["allow_anonymous_connect_without_token", 1, " must be true or false, found a number"],
    ["disallow_anonymous_connection_tokens", null, " must be true or false, found null"],
    [
      "ping_interval",
      25,
      ' must be a duration such as "25s" or "1h30m" (units: h, m, s, ms), found a number',
    ],
    [
      "ping_interval",
      "25",
      ': "25" is not a duration such as "25s" or "1h30m" (units: h, m, s, ms)',
    ],
    ["ping_interval", "0s", ': "0s" is shorter than 1s'],
    ["ping_interval", "3601s", ': "3601s" is longer than 3600s'],
    ["ping_interval", "1500ms", ': "1500ms" is not a whole number of seconds'],
    ["stale_close_delay", "999ms", ': "999ms" is shorter than 1s'],
    [
      "expired_close_delay",
      "-1s",
      ': "-1s" is not a duration such as "25s" or "1h30m" (units: h, m, s, ms)',
    ],
    [
      "expired_sub_close_delay",
      [],
      ' must be a duration such as "25s" or "1h30m" (units: h, m, s, ms), found an array',
    ],
    ["queue_max_size", 65_535, ": 65535 is not a whole number of at least 65536"],
    ["queue_max_size", 2 ** 53, ": 9007199254740992 is not a whole number of at least 65536"],
    ["history_max_publication_limit", 0, ": 0 is not a whole number from 1 to 100000"],
    ["history_max_publication_limit", 100_001, ": 100001 is not a whole number from 1 to 100000"],
    ["recovery_max_publication_limit", 1.5, ": 1.5 is not a whole number from 1 to 100000"],
    ["connection_limit", "5", " must be a whole number from 0 to 32000, found a string"],
    ["connection_limit", -1, ": -1 is not a whole number from 0 to 32000"],
    ["connection_limit", 32_001, ": 32001 is not a whole number from 0 to 32000"],
    [
      "user_connection_limit",
      limits.userConnectionLimitMax + 1,
      ": 10001 is not a whole number from 0 to 10000",
    ],
    ["connection_rate_limit", -1, ": -1 is not a whole number of at least 0"],
    ["connection_rate_limit", 0.5, ": 0.5 is not a whole number of at least 0"],
    ["connection_rate_limit", "9", " must be a whole number of at least 0, found a string"],
    ["channel_limit", 0, ": 0 is not a whole number from 1 to 1024"],
    ["channel_limit", 1_025, ": 1025 is not a whole number from 1 to 1024"],
    ["channel_limit", "128", " must be a whole number from 1 to 1024, found a string"],
    ["subscribe_to_user_personal_channel", true, " must be an object, found a boolean"],
    ["connect_include_server_time", {}, " must be true or false, found an object"],
    ["pong", "off", ': "off" is not one of "auto", "always", "never"'],
    ["pong", true, ' must be one of "auto", "always", "never", found a boolean'],
    ["token_cookie", 5, " must be a string, found a number"],
    ["conection_limit", 5, " is unknown; did you mean connection_limit?"],
    ["zzz", 5, " is unknown"],
  ];
  it.each(refused)("refuses %s: %j", (key, value, predicate) => {
    expect(clientProblems({ [key]: value })).toEqual([`client.${key}${predicate}`]);
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
