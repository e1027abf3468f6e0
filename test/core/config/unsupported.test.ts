import { describe, expect, it } from "vitest";
import {
  unsupportedChannelKeys,
  unsupportedChannelOptions,
  unsupportedClientKeys,
  unsupportedHttpApiKeys,
  unsupportedStreamKeys,
  unsupportedTopLevelKeys,
  unsupportedUniWebsocketKeys,
} from "../../../src/config/unsupported.ts";
import {
  unsupportedHookHttpKeys,
  unsupportedHookKeys,
} from "../../../src/features/hooks/backends.ts";
import {
  unsupportedChannelProxyKeys,
  unsupportedRpcPingKeys,
  unsupportedHookOptions,
} from "../../../src/features/hooks/config.ts";
import { mapsElsewhere } from "../../../src/features/maps/config.ts";
import { unsupportedPrometheusKeys } from "../../../src/features/metrics/config.ts";
import { sharedPollsElsewhere } from "../../../src/features/shared-polls/config.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { problemsOf } from "./parsed.ts";

const yet = "is not supported by Dormouse yet";
const not = "is not supported by Dormouse";
const ownHistory = `${not}: each channel's object stores the channel's history`;

/** The configuration with one value at a path such as "client.token.hmac_secret_key". */
function configWith(path: string, value: unknown): unknown {
  let nested = value;
  for (const name of path.split(".").toReversed()) nested = { [name]: nested };
  return nested;
}

/** Those of the kernel and of the features. */
const channelOptions = {
  ...unsupportedHookOptions,
  ...mapsElsewhere,
  ...sharedPollsElsewhere,
  ...unsupportedChannelOptions,
};

const everyPath = [
  ...Object.keys(unsupportedTopLevelKeys),
  ...Object.keys(unsupportedClientKeys).map((name) => `client.${name}`),
  ...Object.keys(channelOptions).map((name) => `channel.without_namespace.${name}`),
  ...Object.keys(unsupportedChannelKeys).map((name) => `channel.${name}`),
  ...Object.keys(unsupportedPrometheusKeys).map((name) => `prometheus.${name}`),
  ...Object.keys(unsupportedHttpApiKeys).map((name) => `http_api.${name}`),
  ...Object.keys(unsupportedChannelProxyKeys).map((name) => `channel.proxy.${name}`),
  ...Object.keys(unsupportedHookKeys).map((name) => `rpc.proxy.${name}`),
  ...Object.keys(unsupportedHookHttpKeys).map((name) => `rpc.proxy.http.${name}`),
  ...Object.keys(unsupportedRpcPingKeys).map((name) => `rpc.ping.${name}`),
  ...["sse", "http_stream", "uni_sse", "uni_http_stream"].flatMap((transport) =>
    Object.keys(unsupportedStreamKeys("")).map((name) => `${transport}.${name}`),
  ),
  ...Object.keys(unsupportedUniWebsocketKeys).map((name) => `uni_websocket.${name}`),
];

describe("[A8] a key of Centrifugo's that Dormouse does not have", () => {
  it.each(everyPath)("%s is refused by name, and taken when it turns nothing on", (path) => {
    // The name of a file is the only text that is accepted anywhere.
    const value = path === "pid_file" ? ["something"] : "something";
    const problems = problemsOf(configWith(path, value));
    expect(problems).toHaveLength(1);
    expect(problems[0]?.startsWith(`${path} is `)).toBe(true);
    expect(problems[0]).not.toContain("something");
    expect(problems[0]).not.toContain("unknown");
    for (const off of [false, "", 0, "0s", null, [], {}]) {
      expect(problemsOf(configWith(path, off))).toEqual([]);
    }
  });

  const places = [
    "brokers",
    "presence_managers",
    "map_brokers",
    "channel_patterns",
    "license",
    "clickhouse_analytics",
    "database",
    "distributed_rate_limit",
    "push_notifications",
    "sentry",
    "shared_poll_relay",
    "singleflight",
    "user_status",
    "user_block",
    "token_revoke",
    "user_tokens_invalidate",
    "client.write_delay",
    "client.max_messages_in_frame",
    "client.reply_without_queue",
    "client.token.meta_from_claim",
    "client.token.labels_from_claim",
    "channel.patterns",
    "channel.without_namespace.broker_name",
    "channel.without_namespace.presence_manager_name",
    "channel.without_namespace.state_proxy_name",
    "shared_poll.notification",
    "http_api.jwks",
    "prometheus.additional_client_names",
    "prometheus.channel_namespace_resolution",
    "prometheus.expose_transport_accept_protocol",
    "prometheus.client_labels",
  ];
  it.each(places)("%s is named as PRO's, and not as a typing error", (path) => {
    const [problem] = problemsOf(configWith(path, [{ enabled: true, name: "mine" }]));
    expect(problem).toMatch(/ is an option of Centrifugo PRO[,:] /);
    expect(problem).not.toContain("did you mean");
  });

  it("says the same of an option of a map or of a shared poll", () => {
    const map = { subscription_type: "map", map: { mode: "persistent", broker_name: "mine" } };
    const shared_poll = { keep_latest_data: true, notification: { batch_max_size: 1 } };
    const namespaces = [
      { name: "maps", ...map },
      { name: "polls", subscription_type: "shared_poll", shared_poll },
    ];
    const problems = problemsOf({ channel: { namespaces } });
    for (const name of [
      "map.broker_name",
      "shared_poll.keep_latest_data",
      "shared_poll.notification",
    ])
      expect(problems.join("\n")).toContain(`${name} is an option of Centrifugo PRO, `);
  });

  it("a section of PRO's passes if it isn't enabled, or for what Dormouse always does", () => {
    const redis = { address: "localhost:6379" };
    const off = { enabled: false, redis, expire_interval: "24h" };
    expect(problemsOf({ user_status: off, singleflight: { enabled: false } })).toEqual([]);
    expect(problemsOf({ user_block: { storage_type: "redis", redis } })).toEqual([]);
  });

  it.each([
    ["engine", { type: "redis" }, ownHistory],
    ["engine", "memory", ownHistory],
    ["pid_file", 5, not],
    ["client.channel_position_check_delay", "41s", not],
    ["client.concurrency", "2", not],
    [
      "client.user_id_http_header",
      "X-User-Id",
      `${not}: a user is known by a token or by the backend of client.proxy.connect`,
    ],
    ["client.channel_position_max_time_lag", "5s", not],
    ["uni_websocket.disable_disconnect_push", true, not],
    ["prometheus.recovered_publications_histogram", true, not],
    ["prometheus.native_histograms", true, not],
    [
      "user_status",
      { enabled: true },
      "is an option of Centrifugo PRO: set client.users.status.enabled instead",
    ],
    ["health", { enabled: true, handler_prefix: "/up" }, `${not}: the only address is /health`],
    ["log", "debug", not],
    ["uni_grpc", { enabled: true, port: 11_000 }, yet],
    ["uni_grpc", { enabled: "false", port: 11_000 }, yet],
    ["grpc_api", { enabled: true }, yet],
    ["prometheus.handler_prefix", "/numbers", not],
    ["debug", { enabled: true }, not],
    ["admin", { enabled: true, password: "hunter2" }, yet],
    ["client.insecure_skip_token_signature_verify", true, `${not}: tokens are always verified`],
    [
      "channel.without_namespace.subscribe_cel",
      "true",
      "is an option of Centrifugo PRO, not supported by Dormouse",
    ],
    ["rpc.ping.method", "pong", not],
    ["http_api.handler_prefix", "/v1", not],
    ["websocket", { message_size_limit: 65_537 }, not],
    ["websocket", { compression: true, compression_level: 1 }, not],
    ["websocket", { handler_prefix: "/connection/else" }, not],
    ["websocket", 65_536, not],
    ["websocket", { constructor: 1 }, not],
    ["emulation", { handler_prefix: "/else" }, not],
    ["emulation", { max_request_body_size: 65_537 }, not],
    ["sse.handler_prefix", "/connection/http_stream", not],
    ["http_stream.max_request_body_size", 1_048_576, not],
    ["uni_sse.connect_code_to_http_response", { enabled: true }, not],
    ["uni_websocket.join_push_messages", true, not],
    ["uni_websocket.compression", true, not],
    ["client.token.insecure_skip_jwks_endpoint_safety_check", true, not],
    ["http_api.key", "hunter2", "is a secret: set API_KEY instead"],
    [
      "client.pong_timeout",
      "9s",
      "is not supported by Dormouse: a connection that has not answered a ping by the next one is closed",
    ],
    [
      "client.presence_update_interval",
      "28s",
      "is not supported by Dormouse: presence is derived from the open connections",
    ],
    ["channel.without_namespace.subscribe_stream_proxy_enabled", true, yet],
    ["channel.proxy.subscribe_stream", { endpoint: "https://example.com" }, yet],
    [
      "channel.without_namespace.map",
      { mode: "persistent" },
      'is for namespaces of the subscription_type "map"',
    ],
    [
      "channel.without_namespace.shared_poll",
      { refresh_interval: "5s" },
      'is for namespaces of the subscription_type "shared_poll"',
    ],
    ["map_broker", { type: "redis" }, `${not}: each channel's object stores the channel's map`],
  ])("refuses %s: %j", (path, value, predicate) => {
    expect(problemsOf(configWith(path, value))).toEqual([`${path} ${predicate}`]);
  });

  it.each([
    ["channel.without_namespace.subscription_type", "stream"],
    ["channel.without_namespace.subscribe_proxy_name", "default"],
    ["channel.without_namespace.map", { key_ttl: "0s", publish_proxy_name: "default" }],
    [
      "channel.without_namespace.shared_poll",
      { proxy_name: "default", refresh_interval: "10s", refresh_batch_size: 1_000 },
    ],
    ["map_broker", { enabled: false, type: "memory" }],
    ["rpc.without_namespace", { proxy_enabled: false, proxy_name: "default" }],
    ["rpc.namespace_boundary", ":"],
    ["rpc.ping.method", "ping"],
    ["client.pong_timeout", "8s"],
    ["client.presence_update_interval", "27s"],
    ["client.channel_position_check_delay", "40s"],
    ["client.concurrency", 0],
    ["http_api.handler_prefix", "/api"],
    ["engine", { type: "memory", redis: { presence_ttl: "60s", address: "" } }],
    ["broker", { enabled: false, type: "memory" }],
    ["presence_manager", { enabled: false, type: "memory", redis: { presence_ttl: "1m0s" } }],
    ["websocket", { message_size_limit: 65_536, compression: false, write_timeout: "1s" }],
    ["emulation", { handler_prefix: "/emulation", max_request_body_size: 65_536 }],
    ["sse", { handler_prefix: "/connection/sse", max_request_body_size: 65_536 }],
    ["http_stream", { handler_prefix: "/connection/http_stream" }],
    ["uni_sse", { connect_code_to_http_response: { enabled: false, transforms: [] } }],
    ["uni_http_stream", { handler_prefix: "/connection/uni_http_stream" }],
    ["uni_websocket", { handler_prefix: "/connection/uni_websocket", write_timeout: "1000ms" }],
    ["websocket", { handler_prefix: "/connection/websocket" }],
    ["uni_grpc", { enabled: false, port: 11_000 }],
    ["grpc_api", { port: 10_000, key: "" }],
    ["prometheus", { enabled: false, handler_prefix: "/metrics" }],
    ["swagger", { handler_prefix: "/swagger" }],
    ["admin", { enabled: false, password: "", origins: [], nested: { on: false } }],
    ["client.token", { hmac_secret_key: "", audience: "" }],
    ["client.subscription_token", { enabled: false, hmac_secret_key: "" }],
  ])("takes %s: %j, which asks for nothing more", (path, value) => {
    expect(problemsOf(configWith(path, value))).toEqual([]);
  });

  it.each([
    ["health", { enabled: true, handler_prefix: "/health" }, "/health is always there"],
    ["init", { enabled: true }, "/connection/init is always there"],
    ["log", { level: "debug", file: "/var/log/centrifugo" }, "the platform keeps the log"],
    ["node", { name: "one", info_metrics_aggregate_interval: "60s" }, "the objects have no nodes"],
    ["pid_file", "/run/centrifugo.pid", "the platform runs the processes"],
    ["http_server", { port: 8_000, tls: { enabled: true } }, "the platform listens and adds TLS"],
    ["shutdown", { timeout: "10s" }, "the platform does this"],
    ["usage_stats", { disabled: true }, "Dormouse sends no statistics"],
    ["client.concurrency", 8, "commands for different channels never wait for each other"],
  ])("ignores %s: %j, which is so anyway, and says why", (path, value, reason) => {
    const parsed = parseConfig(configWith(path, value));
    if (parsed.outcome === "bad") throw new Error(parsed.problems.join());
    expect(parsed.notes).toEqual([expect.stringContaining(`${path} is ignored: ${reason}`)]);
  });

  it("is refused where it belongs only", () => {
    expect(problemsOf({ client: { engine: "x" }, concurrency: 1 })).toEqual([
      "client.engine is unknown",
      "concurrency is unknown",
    ]);
  });
});

describe("[A7] a value that may be a secret", () => {
  it.each([
    { http_api: { key: "hunter2" } },
    { http_api: { kee: "hunter2" } },
    { api_key: "hunter2" },
    { client: { token_hmac_secret_key: "hunter2" } },
    { client: { token: { hmac_secret_key: "hunter2", hmac_previous_secret_key: "hunter2" } } },
    { client: { token: "hunter2" } },
    { client: { token: { rsa_public_key: "hunter2" } } },
    { client: { token: { jwks_public_endpoint: "https://user:hunter2@example.com" } } },
    { client: { token: { secret: { of: "hunter2" } } } },
    { client: { token_cookie: "hunter2=" } },
    { client: { require_edge_token: "hunter2" } },
    { admin: { enabled: true, password: "hunter2", secret: "hunter2" } },
    { grpc_api: { enabled: true, key: "hunter2" } },
    { channel: { namespaces: [{ name: "chat", password: "hunter2" }] } },
    '{"http_api": {"key": "hunter2"',
    '{"http_api": {"key": hunter2}}',
    '"hunter2"',
    "hunter2",
    ["hunter2"],
  ])("does not appear in the problems of %j", (input) => {
    const problems = problemsOf(input);
    expect(problems).not.toHaveLength(0);
    expect(problems.join("\n")).not.toContain("hunter2");
  });
});
