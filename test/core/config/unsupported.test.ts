import { describe, expect, it } from "vitest";
import {
  unsupportedChannelKeys,
  unsupportedChannelOptions,
  unsupportedClientKeys,
  unsupportedHttpApiKeys,
  unsupportedRpcKeys,
  unsupportedRpcPingKeys,
  unsupportedStreamKeys,
  unsupportedTopLevelKeys,
  unsupportedUniWebsocketKeys,
} from "../../../src/config/unsupported.ts";
import { problemsOf } from "./parsed.ts";

const yet = "is not supported by Dormouse yet";

/** The configuration with one value at a path such as "client.token.hmac_secret_key". */
function configWith(path: string, value: unknown): unknown {
  let nested = value;
  for (const name of path.split(".").toReversed()) nested = { [name]: nested };
  return nested;
}

const everyPath = [
  ...Object.keys(unsupportedTopLevelKeys),
  ...Object.keys(unsupportedClientKeys).map((name) => `client.${name}`),
  ...Object.keys(unsupportedChannelKeys).map((name) => `channel.${name}`),
  ...Object.keys(unsupportedChannelOptions).map((name) => `channel.without_namespace.${name}`),
  ...Object.keys(unsupportedHttpApiKeys).map((name) => `http_api.${name}`),
  ...Object.keys(unsupportedRpcKeys).map((name) => `rpc.${name}`),
  ...Object.keys(unsupportedRpcPingKeys).map((name) => `rpc.ping.${name}`),
  ...["sse", "http_stream", "uni_sse", "uni_http_stream"].flatMap((transport) =>
    Object.keys(unsupportedStreamKeys("")).map((name) => `${transport}.${name}`),
  ),
  ...Object.keys(unsupportedUniWebsocketKeys).map((name) => `uni_websocket.${name}`),
];

describe("[A8] a key of Centrifugo's that Dormouse does not have", () => {
  it.each(everyPath)("%s is refused by name, and taken when it turns nothing on", (path) => {
    const problems = problemsOf(configWith(path, "something"));
    expect(problems).toHaveLength(1);
    expect(problems[0]?.startsWith(`${path} is `)).toBe(true);
    expect(problems[0]).not.toContain("something");
    expect(problems[0]).not.toContain("unknown");
    for (const off of [false, "", 0, "0s", null, [], {}]) {
      expect(problemsOf(configWith(path, off))).toEqual([]);
    }
  });

  it.each([
    ["engine", { type: "redis" }, yet],
    ["engine", "memory", yet],
    ["proxies", [false], yet],
    ["pid_file", "0", yet],
    ["client.channel_position_check_delay", "41s", yet],
    ["client.concurrency", 2, yet],
    ["client.user_connection_limit", 1, yet],
    ["rpc.without_namespace", { proxy_enabled: true, proxy_name: "default" }, yet],
    ["rpc.namespaces", [{ name: "chat" }], yet],
    ["rpc.namespace_boundary", "/", yet],
    ["rpc.ping.method", "pong", yet],
    ["http_api.handler_prefix", "/v1", yet],
    ["websocket", { message_size_limit: 65_537 }, yet],
    ["websocket", { compression: true, compression_level: 1 }, yet],
    ["websocket", { handler_prefix: "/connection/websocket" }, yet],
    ["websocket", 65_536, yet],
    ["websocket", { constructor: 1 }, yet],
    ["emulation", { handler_prefix: "/else" }, yet],
    ["emulation", { max_request_body_size: 65_537 }, yet],
    ["sse.handler_prefix", "/connection/http_stream", yet],
    ["http_stream.max_request_body_size", 1_048_576, yet],
    ["uni_sse.connect_code_to_http_response", { enabled: true }, yet],
    ["uni_websocket.join_push_messages", true, yet],
    ["uni_websocket.compression", true, yet],
    ["shutdown", { timeout: { timeout: "30s" } }, yet],
    ["client.insecure", true, yet],
    ["client.token.insecure_skip_jwks_endpoint_safety_check", true, yet],
    ["client.proxy", { connect: { enabled: true } }, yet],
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
    ["channel.without_namespace.subscription_type", "map", yet],
    ["channel.without_namespace.subscribe_proxy_enabled", true, yet],
  ])("refuses %s: %j", (path, value, predicate) => {
    expect(problemsOf(configWith(path, value))).toEqual([`${path} ${predicate}`]);
  });

  it.each([
    ["channel.without_namespace.subscription_type", "stream"],
    ["channel.without_namespace.subscribe_proxy_name", "default"],
    ["rpc.without_namespace", { proxy_enabled: false, proxy_name: "default" }],
    ["rpc.namespace_boundary", ":"],
    ["rpc.ping.method", "ping"],
    ["client.pong_timeout", "8s"],
    ["client.presence_update_interval", "27s"],
    ["client.channel_position_check_delay", "40s"],
    ["client.concurrency", 0],
    ["client.user_connection_limit", 0],
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
    ["health", { enabled: false, handler_prefix: "/health" }],
    ["shutdown", { timeout: "30s" }],
    ["log", { level: "info", file: "" }],
    ["admin", { enabled: false, password: "", origins: [], nested: { on: false } }],
    ["client.token", { hmac_secret_key: "", audience: "" }],
    ["client.subscription_token", { enabled: false, hmac_secret_key: "" }],
  ])("takes %s: %j, which asks for nothing more", (path, value) => {
    expect(problemsOf(configWith(path, value))).toEqual([]);
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
    { grpc_api: { key: "hunter2" } },
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
