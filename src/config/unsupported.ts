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
  /** Values that have no effect beyond what Dormouse does anyway: some, or all of a type. */
  readonly accepted?: AcceptedValue | "number" | "object" | "string";
  /** Why an accepted value has no effect, if the operator should be told. */
  readonly because?: string;
  /** The key is a section, and nothing in it has an effect unless its `enabled` is true. */
  readonly switched?: true;
  /** A key below that is refused in any case, except under `npm start`. */
  readonly developmentOnly?: string;
  /** The keys below, if naming each of them helps more than naming the whole section. */
  readonly below?: UnsupportedKeys;
}

/**
 * Centrifugo's own defaults, if Dormouse does the same, is stricter, or has nothing to which they could apply: values
 * of a key, or of the keys in a section by their names.
 */
type AcceptedValue =
  | readonly (string | number | boolean)[]
  | { readonly [name: string]: AcceptedValue };

/** The unsupported keys of one level, by name. Callers must test with `Object.hasOwn` first. */
export type UnsupportedKeys = Readonly<Record<string, UnsupportedKey>>;

/** Whether a value of an unsupported key asks for nothing, for the only behaviour there is, or for a missing one. */
export function effectOf(value: JsonValue, key: UnsupportedKey): "none" | "ignored" | "refused" {
  if (asksNothing(value, [], 0) || (key.switched === true && isSwitchedOff(value))) return "none";
  const { accepted = [] } = key;
  const matches =
    typeof accepted === "string"
      ? typeof value === accepted && !isJsonArray(value)
      : asksNothing(value, accepted, 0);
  if (!matches) return "refused";
  return key.because === undefined ? "none" : "ignored";
}

function isSwitchedOff(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { enabled = false } = value;
  return enabled === false || enabled === null;
}

/** An object asks for nothing if none of its values does. */
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
function isList(accepted: AcceptedValue): accepted is readonly (string | number | boolean)[] {
  return Array.isArray(accepted);
}

const depthMax = 8;

/** For features that are planned. */
export const notYet: UnsupportedKey = { refusal: "is not supported by Dormouse yet" };

export const not: UnsupportedKey = { refusal: "is not supported by Dormouse" };

export const pro: UnsupportedKey = {
  refusal: "is an option of Centrifugo PRO, not supported by Dormouse",
};

/** A section of Centrifugo PRO that has an effect only if it is enabled. */
export const proSection: UnsupportedKey = { ...pro, switched: true };

/** Where Centrifugo PRO stores what the homes of users store here. */
const proStorage: UnsupportedKey = {
  ...pro,
  accepted: "object",
  because: "users' homes store this",
};

const derivedPresence: UnsupportedKey = {
  refusal: "is not supported by Dormouse: presence is derived from the open connections",
};

const ownHistory: UnsupportedKey = {
  refusal: "is not supported by Dormouse: each channel's object stores the channel's history",
};

const ownMap: UnsupportedKey = {
  refusal: "is not supported by Dormouse: each channel's object stores the channel's map",
};

const presenceTtl: AcceptedValue = { presence_ttl: ["60s", "1m", "1m0s"] };

/** A section of settings that the platform has in its own place. */
const platform: UnsupportedKey = { ...not, accepted: "object", because: "the platform does this" };

/** Top-level sections (docs/protocol.md 8). */
export const unsupportedTopLevelKeys: UnsupportedKeys = {
  http_server: {
    ...platform,
    because:
      "the platform listens and adds TLS; npm start and npm run serve have --port, and a proxy adds TLS",
  },
  log: { ...platform, because: "the platform keeps the log" },
  engine: { ...ownHistory, accepted: { type: ["memory"], redis: presenceTtl } },
  broker: { ...ownHistory, accepted: { type: ["memory"] } },
  presence_manager: { ...derivedPresence, accepted: { type: ["memory"], redis: presenceTtl } },
  map_broker: { ...ownMap, accepted: { type: ["memory"] } },
  controller: not,
  grpc_api: { ...notYet, switched: true },
  websocket: {
    ...not,
    // Compression is off, and a client that doesn't read is closed because of its queue.
    accepted: {
      handler_prefix: ["/connection/websocket"],
      message_size_limit: [65_536],
      compression_level: [1],
      write_timeout: ["1s", "1000ms"],
    },
  },
  webtransport: { ...notYet, switched: true },
  uni_grpc: { ...notYet, switched: true },
  // The endpoint exists if a transport that needs it is enabled.
  emulation: {
    ...not,
    accepted: { handler_prefix: ["/emulation"], max_request_body_size: [65_536] },
  },
  admin: { ...notYet, switched: true, developmentOnly: "insecure" },
  health: {
    refusal: "is not supported by Dormouse: the only address is /health",
    accepted: { enabled: [true], handler_prefix: ["/health"] },
    because: "/health is always there",
  },
  debug: { ...not, switched: true },
  init: {
    refusal: "is not supported by Dormouse: the only address is /connection/init",
    accepted: { enabled: [true], handler_prefix: ["/connection/init"] },
    because: "/connection/init is always there",
  },
  opentelemetry: { ...notYet, switched: true },
  graphite: { ...notYet, switched: true },
  usage_stats: { ...not, accepted: "object", because: "Dormouse sends no statistics" },
  node: { ...platform, because: "the objects have no nodes between them" },
  shutdown: platform,
  pid_file: { ...not, accepted: "string", because: "the platform runs the processes" },
  enable_unreleased_features: not,
  brokers: pro,
  presence_managers: pro,
  map_brokers: pro,
  channel_patterns: pro,
  license: pro,
  clickhouse_analytics: proSection,
  database: proSection,
  distributed_rate_limit: proSection,
  push_notifications: proSection,
  sentry: proSection,
  shared_poll_relay: proSection,
  singleflight: proSection,
  user_status: {
    refusal: "is an option of Centrifugo PRO: set client.users.status.enabled instead",
    switched: true,
  },
  user_block: proStorage,
  token_revoke: proStorage,
  user_tokens_invalidate: proStorage,
};

/** `client.*` (docs/protocol.md 4.5, 5.3, 5.7 and 7). */
export const unsupportedClientKeys: UnsupportedKeys = {
  insecure_skip_token_signature_verify: {
    refusal: "is not supported by Dormouse: tokens are always verified",
  },
  pong_timeout: {
    accepted: ["8s"],
    refusal:
      "is not supported by Dormouse: a connection that has not answered a ping by the next one is closed",
  },
  concurrency: {
    ...not,
    accepted: "number",
    because: "commands for different channels never wait for each other on /connection/…",
  },
  presence_update_interval: { ...derivedPresence, accepted: ["27s"] },
  // There is nothing to check: the sockets of a channel are in its object, and the entries for a gateway are numbered
  // (rule L1).
  channel_position_check_delay: { ...not, accepted: ["40s"] },
  channel_position_max_time_lag: not,
  user_id_http_header: {
    refusal:
      "is not supported by Dormouse: a user is known by a token or by the backend of client.proxy.connect",
  },
  write_delay: pro,
  max_messages_in_frame: pro,
  reply_without_queue: pro,
  connect_code_to_unidirectional_disconnect: not,
  allowed_delta_types: not,
};

const perUser: UnsupportedKey = {
  refusal:
    "is not supported by Dormouse: a user's connections are in several objects, which share no counter; user_command counts in each",
};

/** `client.rate_limit.*` of Centrifugo PRO (docs/protocol.md 5.7). */
export const unsupportedRateLimits: UnsupportedKeys = {
  redis_user_command: perUser,
  client_error: not,
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
    insecure_skip_jwks_endpoint_safety_check: not,
    meta_from_claim: pro,
    labels_from_claim: pro,
    jwks: {
      refusal: "is an option of Centrifugo PRO: write its providers into issuers instead",
    },
  };
}

/** Each of `client.token.issuers` and `client.subscription_token.issuers`, which are Dormouse's own. */
export const unsupportedIssuerKeys: UnsupportedKeys = {
  hmac_secret_key: {
    refusal: "is a secret: write the name of the Worker's secret into hmac_secret instead",
  },
  hmac_previous_secret_key: {
    refusal: "is a secret: put it into the secret that hmac_secret names, with _PREVIOUS",
  },
};

/** `channel.*` beside the namespaces. */
export const unsupportedChannelKeys: UnsupportedKeys = { patterns: pro };

/** `channel.without_namespace.*` and each of `channel.namespaces` (docs/protocol.md 5.6, with PRO's). */
export const unsupportedChannelOptions: UnsupportedKeys = {
  subscribe_cel: pro,
  publish_cel: pro,
  presence_cel: pro,
  history_cel: pro,
  batch_max_size: pro,
  batch_max_delay: pro,
  batch_flush_latest: pro,
  allow_channel_compaction: pro,
  keep_latest_publication: pro,
  client_publish_debounce_interval: pro,
  shared_position_sync: pro,
  broker_name: pro,
  presence_manager_name: pro,
};

/**
 * `sse.*`, `http_stream.*`, `uni_sse.*` and `uni_http_stream.*` (docs/protocol.md 4).
 *
 * @param path the path of the transport in Centrifugo's defaults
 */
export function unsupportedStreamKeys(path: string): UnsupportedKeys {
  return {
    handler_prefix: { ...not, accepted: [path] },
    max_request_body_size: { ...not, accepted: [65_536] },
    connect_code_to_http_response: not,
  };
}

/** `uni_websocket.*` (docs/protocol.md 4.5). */
export const unsupportedUniWebsocketKeys: UnsupportedKeys = {
  handler_prefix: { ...not, accepted: ["/connection/uni_websocket"] },
  message_size_limit: { ...not, accepted: [65_536] },
  join_push_messages: not,
  compression: not,
  compression_min_size: not,
  compression_level: { ...not, accepted: [1] },
  decompressed_message_size_limit: not,
  read_buffer_size: not,
  write_buffer_size: not,
  use_write_buffer_pool: not,
  write_timeout: { ...not, accepted: ["1s", "1000ms"] },
  disable_closing_handshake: not,
  disable_disconnect_push: not,
};

/** `http_api.*` (docs/protocol.md 6.1). */
export const unsupportedHttpApiKeys: UnsupportedKeys = {
  key: { refusal: "is a secret: set API_KEY instead" },
  external: not,
  handler_prefix: { ...not, accepted: ["/api"] },
  disabled: not,
  jwks: proSection,
};

/** `swagger.*`. */
export const unsupportedSwaggerKeys: UnsupportedKeys = {
  handler_prefix: { ...not, accepted: ["/swagger"] },
};

/** Each of `http_api.keys`, which are Dormouse's own. */
export const unsupportedApiKeyKeys: UnsupportedKeys = {
  key: { refusal: "is a secret: write the name of the Worker's secret into secret instead" },
};
