import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { limits } from "../../../src/limits.ts";
import { configOf, problemsOf } from "./parsed.ts";

const seed = 20_261_120;

describe("[A8] parseConfig", () => {
  it("[A1] gives every default for no configuration at all", () => {
    const defaults: Config = {
      client: {
        allowedOrigins: [],
        allowAnonymousConnectWithoutToken: false,
        disallowAnonymousConnectionTokens: false,
        pingIntervalMs: 25_000,
        pong: "auto",
        staleCloseDelayMs: 10_000,
        expiredCloseDelayMs: 25_000,
        expiredSubCloseDelayMs: 25_000,
        queueMaxSizeBytes: 1_048_576,
        historyMaxPublicationLimit: 300,
        recoveryMaxPublicationLimit: 300,
        connectionLimit: limits.connectionsDefault,
        userConnectionLimit: 0,
        connectionRateLimit: 0,
        rateLimit: new Map(),
        userRateLimit: new Map(),
        channelLimit: 128,
        connectIncludeServerTime: false,
        personalChannel: { enabled: false, namespace: "", singleConnection: false },
        users: { enabled: true, status: false },
        insecure: false,
        requireEdgeToken: false,
        tokenCookie: "",
        token: {
          publicKeys: [],
          hmacPreviousSecretKeyValidUntilSeconds: 0,
          userIdClaim: "sub",
          issuers: [],
        },
      },
      channel: {
        maxLengthBytes: 255,
        privatePrefix: "$",
        namespaceBoundary: ":",
        userBoundary: "#",
        userSeparator: ",",
        withoutNamespace: {
          presence: false,
          joinLeave: false,
          forcePushJoinLeave: false,
          historySize: 0,
          historyTtlMs: 0,
          historyMetaTtlMs: 720 * 3_600_000,
          forcePositioning: false,
          allowPositioning: false,
          forceRecovery: false,
          recoveryMode: "stream",
          autoCacheRecover: false,
          allowRecovery: false,
          allowSubscribeForClient: false,
          allowSubscribeForAnonymous: false,
          allowPublishForClient: false,
          allowPublishForSubscriber: false,
          allowPublishForAnonymous: false,
          allowPresenceForClient: false,
          allowPresenceForSubscriber: false,
          allowPresenceForAnonymous: false,
          allowHistoryForClient: false,
          allowHistoryForSubscriber: false,
          allowHistoryForAnonymous: false,
          allowUserLimitedChannels: false,
          limitedChannelsForSubscribersOnly: false,
          publicationDataFormat: "",
          allowDelta: false,
          deltaPublish: false,
          allowTagsFilter: false,
          subscriptionType: "stream",
        },
        namespaces: new Map(),
      },
      httpApi: { errorMode: "", insecure: false, keys: [] },
      rpc: { pingEnabled: false, namespaceBoundary: ":", namespaces: new Map() },
      hooks: { connectAt: "connect", keepsMeta: false, targets: new Map() },
      sharedPoll: { hmacPreviousSecretKeyValidUntilSeconds: 0 },
      prometheus: { enabled: false, counts: false },
      consumers: [],
      swagger: { enabled: false },
      placement: { isPlaced: false, isRecorded: false },
      transports: {
        sse: false,
        httpStream: false,
        uniSse: false,
        uniHttpStream: false,
        uniWebsocket: false,
        longPoll: false,
      },
    };
    expect(parseConfig(undefined)).toStrictEqual({
      outcome: "config",
      config: defaults,
      notes: [],
    });
    expect(parseConfig({})).toStrictEqual({ outcome: "config", config: defaults, notes: [] });
    expect(parseConfig({ client: {}, channel: { without_namespace: {} } })).toStrictEqual(
      parseConfig("{}"),
    );
  });

  it("gives plain data, apart from patterns, which survives being cloned", () => {
    const config = configOf({
      channel: { namespaces: [{ name: "chat", history_size: 1, history_ttl: "1m" }] },
    });
    expect(structuredClone(config)).toStrictEqual(config);
  });

  it("reports all problems of all sections at once", () => {
    expect(
      problemsOf({
        client: { ping_interval: "25", stale_close_delay: "0s" },
        channel: {
          max_length: 0,
          without_namespace: { presence: "yes" },
          namespaces: [{ name: "news" }, { name: "chat", histry_size: 5 }],
        },
        http_api: { error_mode: "loud" },
        rpc: { ping: { enabled: 1 } },
        http_stream: { enabled: 1 },
        engine: { type: "redis" },
        clients: {},
      }),
    ).toEqual([
      'client.ping_interval: "25" is not a duration such as "25s" or "1h30m" (units: h, m, s, ms)',
      'client.stale_close_delay: "0s" is shorter than 1s',
      "channel.max_length: 0 is not a whole number from 1 to 1000",
      "channel.without_namespace.presence must be true or false, found a string",
      'channel.namespaces[1] ("chat").histry_size is unknown; did you mean history_size?',
      'http_api.error_mode: "loud" is not one of "", "transport"',
      "rpc.ping.enabled must be true or false, found a number",
      "http_stream.enabled must be true or false, found a number",
      "engine is not supported by Dormouse: each channel's object stores the channel's history",
      "clients is unknown; did you mean client?",
    ]);
  });

  it.each(["client", "channel", "http_api", "rpc"])(
    "refuses a %s that is not an object",
    (name) => {
      expect(problemsOf({ [name]: [] })).toEqual([`${name} must be an object, found an array`]);
      expect(problemsOf({ [name]: null })).toEqual([`${name} must be an object, found null`]);
      expect(problemsOf({ [name]: "" })).toEqual([`${name} must be an object, found a string`]);
    },
  );

  it("reports a string that is not JSON as one problem", () => {
    expect(problemsOf("client = {}")).toEqual([
      "config is a string that is not valid JSON: see line 1, column 1",
    ]);
  });

  it("takes prototype-pollution keys for unknown ones at every level", () => {
    const hostile = '{"__proto__":{"presence":true},"constructor":{"prototype":1},"toString":1}';
    const text = `{"channel":{"without_namespace":${hostile},"namespaces":[{"name":"chat","__proto__":1}]},${hostile.slice(1)}`;
    expect(problemsOf(text)).toEqual([
      "channel.without_namespace.__proto__ is unknown",
      "channel.without_namespace.constructor is unknown",
      "channel.without_namespace.toString is unknown",
      'channel.namespaces[0] ("chat").__proto__ is unknown',
      "__proto__ is unknown",
      "constructor is unknown",
      "toString is unknown",
    ]);
    expect({}).not.toHaveProperty("presence");
  });

  it("[B1] shows a strange key as one bounded line", () => {
    expect(problemsOf({ ["a\nb"]: 1 })).toEqual([String.raw`"a\nb" is unknown`]);
    expect(problemsOf({ ["x".repeat(500)]: 1 })).toEqual([`"${"x".repeat(64)}"… is unknown`]);
  });

  it("never throws, whatever JSON says", () => {
    const names = [
      "client",
      "channel",
      "http_api",
      "rpc",
      "ping",
      "sse",
      "enabled",
      "without_namespace",
      "namespaces",
      "engine",
    ];
    const anyKey = fc.oneof(fc.string(), fc.constantFrom(...names, "name", "token", "__proto__"));
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof({ depthSize: "small", withCrossShrink: true }, fc.jsonValue(), tie("object")),
      object: fc.dictionary(anyKey, tie("node"), { maxKeys: 6 }),
    }));
    fc.assert(
      fc.property(fc.oneof(node, fc.jsonValue(), fc.json()), (input) => {
        const parsed = parseConfig(input);
        expect(parsed.outcome === "config" || parsed.problems.length > 0).toBe(true);
      }),
      { seed, numRuns: 500 },
    );
  });

  it("[B1] does not exhaust the stack on JSON nested a hundred thousand deep", () => {
    const deep = '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000);
    const array = "[".repeat(100_000) + "]".repeat(100_000);
    expect(problemsOf(`{"engine":${deep},"channel":${deep},"proxies":${array}}`)).toEqual([
      "proxies[0] must be an object, found an array",
      "channel.a is unknown",
      "engine is not supported by Dormouse: each channel's object stores the channel's history",
    ]);
  });

  it("takes a valid object and its JSON text for the same configuration", () => {
    const optional = {
      presence: fc.boolean(),
      join_leave: fc.boolean(),
      allow_recovery: fc.boolean(),
      channel_regex: fc.constantFrom("", "^[a-z]+$", "\\d"),
      publication_data_format: fc.constantFrom("", "json", "json_object", "binary"),
      allowed_delta_types: fc.constantFrom([], ["fossil"]),
      allow_tags_filter: fc.boolean(),
    };
    const history = {
      history_size: fc.integer({ min: 1, max: limits.historySizeMax }),
      history_ttl: fc.constantFrom("5m", "720h"),
    };
    const options = fc.record(
      { ...history, ...optional },
      { requiredKeys: ["history_size", "history_ttl"] },
    );
    const namespace = fc.record(
      { name: fc.stringMatching(/^[-a-zA-Z0-9_.]{2,}$/), ...history, ...optional },
      { requiredKeys: ["name", "history_size", "history_ttl"] },
    );
    const input = fc.record(
      {
        client: fc.record(
          {
            allowed_origins: fc.array(fc.constantFrom("*", "https://*.example.com")),
            ping_interval: fc.integer({ min: 1, max: 3_600 }).map((seconds) => `${seconds}s`),
            connection_limit: fc.integer({ min: 1, max: limits.connectionsMax }),
          },
          { requiredKeys: [] },
        ),
        channel: fc.record(
          {
            private_prefix: fc.string(),
            without_namespace: options,
            namespaces: fc.uniqueArray(namespace, { selector: ({ name }) => name }),
          },
          { requiredKeys: [] },
        ),
        sse: fc.record({ enabled: fc.boolean() }),
        http_api: fc.record({ error_mode: fc.constantFrom("", "transport") }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(input, (object) => {
        expect(configOf(JSON.stringify(object))).toStrictEqual(configOf(object));
      }),
      { seed },
    );
  });
});
