/**
 * The keys of Centrifugo's configuration that Dormouse knows and doesn't support, and what the operator is told about
 * each. A key with a value that changes nothing is accepted, so that a configuration with all defaults written out can
 * be copied.
 */
import { isJsonArray, isJsonObject, type JsonValue } from "../protocol/wire-value.ts";

/** A key of Centrifugo's configuration that Dormouse knows and doesn't support. */
export interface UnsupportedKey {
  /** The problem, as a sentence without its subject, which is the key. */
  readonly refusal: string;
  /** Values that have no effect beyond what Dormouse does anyway. */
  readonly accepted?: AcceptedValue;
  /** The keys below, if naming each of them helps more than naming the whole section. */
  readonly below?: UnsupportedKeys;
}

/**
 * Centrifugo's own defaults, if Dormouse does the same, is stricter, or has nothing to which they could apply: values
 * of a key, or of the keys in a section by their names.
 */
type AcceptedValue = readonly (string | number)[] | { readonly [name: string]: AcceptedValue };

/** The unsupported keys of one level, by name. Callers must test with `Object.hasOwn` first. */
export type UnsupportedKeys = Readonly<Record<string, UnsupportedKey>>;

/** Whether a value of an unsupported key has no effect. An object has no effect if none of its values has one. */
export function isOff(value: JsonValue, key: UnsupportedKey): boolean {
  return asksNothing(value, key.accepted ?? [], 0);
}

function asksNothing(value: JsonValue, accepted: AcceptedValue, depth: number): boolean {
  if (isJsonArray(value)) return value.length === 0;
  if (isJsonObject(value)) {
    // No section is nested deeper, and the bound keeps a crafted configuration from exhausting the stack.
    if (depth === depthMax) return false;
    return Object.entries(value).every(([name, below]) =>
      asksNothing(below, acceptedBelow(accepted, name), depth + 1),
    );
  }
  if (value === null || value === false || value === 0 || value === "" || value === "0s")
    return true;
  return isList(accepted) && accepted.some((one) => one === value);
}

function acceptedBelow(accepted: AcceptedValue, name: string): AcceptedValue {
  return isList(accepted) || !Object.hasOwn(accepted, name) ? [] : (accepted[name] ?? []);
}

/** For the compiler, Array.isArray doesn't narrow to a read-only array. */
function isList(accepted: AcceptedValue): accepted is readonly (string | number)[] {
  return Array.isArray(accepted);
}

const depthMax = 8;

const notYet: UnsupportedKey = { refusal: "is not supported by Dormouse yet" };

const derivedPresence: UnsupportedKey = {
  refusal: "is not supported by Dormouse: presence is derived from the open connections",
};

const presenceTtl: AcceptedValue = { presence_ttl: ["60s", "1m", "1m0s"] };

/** Top-level sections (docs/protocol.md 8). */
export const unsupportedTopLevelKeys: UnsupportedKeys = {
  http_server: notYet,
  log: { ...notYet, accepted: { level: ["info"] } },
  engine: { ...notYet, accepted: { type: ["memory"], redis: presenceTtl } },
  broker: { ...notYet, accepted: { type: ["memory"] } },
  presence_manager: { ...derivedPresence, accepted: { type: ["memory"], redis: presenceTtl } },
  map_broker: notYet,
  controller: notYet,
  shared_poll: notYet,
  proxies: notYet,
  grpc_api: notYet,
  consumers: notYet,
  websocket: {
    ...notYet,
    // Compression is off, and a client that doesn't read is closed because of its queue.
    accepted: { message_size_limit: [65_536], compression_level: [1], write_timeout: ["1s"] },
  },
  webtransport: notYet,
  uni_grpc: notYet,
  // The endpoint exists if a transport that needs it is enabled.
  emulation: {
    ...notYet,
    accepted: { handler_prefix: ["/emulation"], max_request_body_size: [65_536] },
  },
  admin: notYet,
  prometheus: notYet,
  health: { ...notYet, accepted: { handler_prefix: ["/health"] } },
  swagger: notYet,
  debug: notYet,
  init: notYet,
  opentelemetry: notYet,
  graphite: notYet,
  usage_stats: notYet,
  node: notYet,
  shutdown: { ...notYet, accepted: { timeout: ["30s"] } },
  pid_file: notYet,
  enable_unreleased_features: notYet,
};

/** Set by default, and without effect until the proxy is enabled. */
const proxyName: UnsupportedKey = { ...notYet, accepted: ["default"] };

/** `client.*` (docs/protocol.md 4.5, 5.3, 5.7 and 7). */
export const unsupportedClientKeys: UnsupportedKeys = {
  proxy: notYet,
  insecure: notYet,
  insecure_skip_token_signature_verify: notYet,
  pong_timeout: {
    accepted: ["8s"],
    refusal:
      "is not supported by Dormouse: a connection that has not answered a ping by the next one is closed",
  },
  concurrency: notYet,
  presence_update_interval: { ...derivedPresence, accepted: ["27s"] },
  // There is nothing to check: the sockets of a channel are in its object, and the entries for a gateway are numbered
  // (rule L1).
  channel_position_check_delay: { ...notYet, accepted: ["40s"] },
  user_connection_limit: notYet,
  connect_code_to_unidirectional_disconnect: notYet,
  allowed_delta_types: notYet,
};

/**
 * `client.token.*` and `client.subscription_token.*` (docs/protocol.md 5.3).
 *
 * @param secrets the prefix of the names of the section's secrets
 */
export function unsupportedTokenKeys(secrets: "TOKEN" | "SUBSCRIPTION_TOKEN"): UnsupportedKeys {
  return {
    hmac_secret_key: { refusal: `is a secret: set ${secrets}_HMAC_SECRET_KEY instead` },
    hmac_previous_secret_key: {
      refusal: `is a secret: set ${secrets}_HMAC_PREVIOUS_SECRET_KEY instead`,
    },
    insecure_skip_jwks_endpoint_safety_check: notYet,
  };
}

/** `channel.*` (docs/protocol.md 7). */
export const unsupportedChannelKeys: UnsupportedKeys = { proxy: notYet };

/** `channel.without_namespace.*` and each of `channel.namespaces` (docs/protocol.md 5.6, with PRO's). */
export const unsupportedChannelOptions: UnsupportedKeys = {
  subscribe_proxy_enabled: notYet,
  subscribe_proxy_name: proxyName,
  publish_proxy_enabled: notYet,
  publish_proxy_name: proxyName,
  sub_refresh_proxy_enabled: notYet,
  sub_refresh_proxy_name: proxyName,
  subscribe_stream_proxy_enabled: notYet,
  subscribe_stream_proxy_name: proxyName,
  subscribe_stream_proxy_bidirectional: notYet,
  subscription_type: { ...notYet, accepted: ["stream"] },
  map_clients_presence_channel_prefix: notYet,
  map_users_presence_channel_prefix: notYet,
  map: notYet,
  shared_poll: notYet,
  subscribe_cel: notYet,
  publish_cel: notYet,
  presence_cel: notYet,
  history_cel: notYet,
  batch_max_size: notYet,
  batch_max_delay: notYet,
  batch_flush_latest: notYet,
  allow_channel_compaction: notYet,
  keep_latest_publication: notYet,
  client_publish_debounce_interval: notYet,
  cache_empty_proxy_enabled: notYet,
  cache_empty_proxy_name: notYet,
  state_proxy_enabled: notYet,
  shared_position_sync: notYet,
};

/** `rpc.*` (docs/protocol.md 7): without a proxy, there is no method to which these keys could apply. */
export const unsupportedRpcKeys: UnsupportedKeys = {
  proxy: notYet,
  without_namespace: { ...notYet, accepted: { proxy_name: ["default"] } },
  namespaces: notYet,
  namespace_boundary: { ...notYet, accepted: [":"] },
};

/** `rpc.ping.*` (docs/protocol.md 1.6). */
export const unsupportedRpcPingKeys: UnsupportedKeys = {
  method: { ...notYet, accepted: ["ping"] },
};

/**
 * `sse.*`, `http_stream.*`, `uni_sse.*` and `uni_http_stream.*` (docs/protocol.md 4).
 *
 * @param path the path of the transport in Centrifugo's defaults
 */
export function unsupportedStreamKeys(path: string): UnsupportedKeys {
  return {
    handler_prefix: { ...notYet, accepted: [path] },
    max_request_body_size: { ...notYet, accepted: [65_536] },
    connect_code_to_http_response: notYet,
  };
}

/** `uni_websocket.*` (docs/protocol.md 4.5). */
export const unsupportedUniWebsocketKeys: UnsupportedKeys = {
  handler_prefix: { ...notYet, accepted: ["/connection/uni_websocket"] },
  message_size_limit: { ...notYet, accepted: [65_536] },
  join_push_messages: notYet,
  compression: notYet,
  compression_min_size: notYet,
  compression_level: { ...notYet, accepted: [1] },
  decompressed_message_size_limit: notYet,
  read_buffer_size: notYet,
  write_buffer_size: notYet,
  use_write_buffer_pool: notYet,
  write_timeout: { ...notYet, accepted: ["1s", "1000ms"] },
  disable_closing_handshake: notYet,
};

/** `http_api.*` (docs/protocol.md 6.1). */
export const unsupportedHttpApiKeys: UnsupportedKeys = {
  key: { refusal: "is a secret: set API_KEY instead" },
  insecure: notYet,
  external: notYet,
  handler_prefix: { ...notYet, accepted: ["/api"] },
  disabled: notYet,
};
