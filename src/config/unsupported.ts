import { isJsonArray, isJsonObject, type JsonValue } from "../protocol/json-value.ts";

/** A key of Centrifugo's configuration that Dormouse knows and does not have. */
export interface UnsupportedKey {
  /** What is said about the key: the sentence without its subject. */
  readonly refusal: string;
  /** Values that ask for nothing beyond what Dormouse does anyway. */
  readonly accepted?: readonly string[];
  /** The keys below, where naming each of them helps more than naming the whole. */
  readonly below?: UnsupportedKeys;
}

/** Unsupported keys of one level, by name. To be asked with `Object.hasOwn` first. */
export type UnsupportedKeys = Readonly<Record<string, UnsupportedKey>>;

/**
 * Whether a value of an unsupported key turns nothing on, so that a configuration which spells its defaults out can be
 * copied. An object is off when all in it is.
 */
export function isOff(value: JsonValue, key: UnsupportedKey): boolean {
  return (typeof value === "string" && key.accepted?.includes(value)) || isEmpty(value, 0);
}

function isEmpty(value: JsonValue, depth: number): boolean {
  if (isJsonArray(value)) return value.length === 0;
  if (isJsonObject(value)) {
    // No section is nested deeper, and a bound keeps a hostile one from exhausting the stack.
    return depth < depthMax && Object.values(value).every((below) => isEmpty(below, depth + 1));
  }
  return value === null || value === false || value === 0 || value === "" || value === "0s";
}

const depthMax = 8;

const notYet: UnsupportedKey = { refusal: "is not supported by Dormouse yet" };

const derivedPresence: UnsupportedKey = {
  refusal: "is not supported by Dormouse: presence is derived from the open sockets",
};

/** Top-level sections (reference 8). */
export const unsupportedTopLevelKeys: UnsupportedKeys = {
  http_server: notYet,
  log: notYet,
  engine: notYet,
  broker: notYet,
  presence_manager: derivedPresence,
  map_broker: notYet,
  controller: notYet,
  shared_poll: notYet,
  rpc: notYet,
  proxies: notYet,
  grpc_api: notYet,
  consumers: notYet,
  websocket: notYet,
  sse: notYet,
  http_stream: notYet,
  webtransport: notYet,
  uni_sse: notYet,
  uni_http_stream: notYet,
  uni_websocket: notYet,
  uni_grpc: notYet,
  emulation: notYet,
  admin: notYet,
  prometheus: notYet,
  health: notYet,
  swagger: notYet,
  debug: notYet,
  init: notYet,
  opentelemetry: notYet,
  graphite: notYet,
  usage_stats: notYet,
  node: notYet,
  shutdown: notYet,
  pid_file: notYet,
  enable_unreleased_features: notYet,
};

/** What both token sections have (reference 5.1 and 5.3). */
const tokenKeys: UnsupportedKeys = {
  hmac_secret_key: notYet,
  hmac_previous_secret_key: notYet,
  hmac_previous_secret_key_valid_until: notYet,
  rsa_public_key: notYet,
  ecdsa_public_key: notYet,
  jwks_public_endpoint: notYet,
  audience: notYet,
  audience_regex: notYet,
  issuer: notYet,
  issuer_regex: notYet,
  user_id_claim: notYet,
};

/** `client.*` (reference 4.5, 5.3, 5.7 and 7). */
export const unsupportedClientKeys: UnsupportedKeys = {
  token: {
    ...notYet,
    below: {
      ...tokenKeys,
      hmac_secret_key: { refusal: "is a secret: set TOKEN_HMAC_SECRET_KEY instead" },
    },
  },
  subscription_token: { ...notYet, below: { enabled: notYet, ...tokenKeys } },
  proxy: notYet,
  insecure: notYet,
  insecure_skip_token_signature_verify: notYet,
  channel_limit: notYet,
  pong_timeout: {
    refusal:
      "is not supported by Dormouse: a socket that has not answered by the next ping is closed",
  },
  concurrency: notYet,
  presence_update_interval: derivedPresence,
  channel_position_check_delay: notYet,
  user_connection_limit: notYet,
  connection_rate_limit: notYet,
  subscribe_to_user_personal_channel: notYet,
  connect_code_to_unidirectional_disconnect: notYet,
  allowed_delta_types: notYet,
};

/** `channel.*` (reference 7). */
export const unsupportedChannelKeys: UnsupportedKeys = { proxy: notYet };

/** `channel.without_namespace.*` and each of `channel.namespaces` (reference 5.6, with PRO's). */
export const unsupportedChannelOptions: UnsupportedKeys = {
  auto_cache_recover: notYet,
  allowed_delta_types: notYet,
  delta_publish: notYet,
  allow_tags_filter: notYet,
  subscribe_proxy_enabled: notYet,
  subscribe_proxy_name: notYet,
  publish_proxy_enabled: notYet,
  publish_proxy_name: notYet,
  sub_refresh_proxy_enabled: notYet,
  sub_refresh_proxy_name: notYet,
  subscribe_stream_proxy_enabled: notYet,
  subscribe_stream_proxy_name: notYet,
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

/** `http_api.*` (reference 6.1). */
export const unsupportedHttpApiKeys: UnsupportedKeys = {
  key: { refusal: "is a secret: set API_KEY instead" },
  insecure: notYet,
  external: notYet,
  handler_prefix: notYet,
  disabled: notYet,
};
