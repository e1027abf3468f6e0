/**
 * The options of Centrifugo 6.9, with those of Centrifugo PRO that Dormouse knows by name, and the kind of each: a value
 * means what its option makes of it, wherever it stands (rule A21). Sections of which nothing is taken over have only
 * their switches here.
 */

/** What a value of an option is. A map has texts by their names, and texts are a list of them. */
export type Kind = "boolean" | "whole" | "duration" | "text" | "texts" | "map";

export type Option =
  /** In a nested configuration file, zero or "" is the default of an option that has one. */
  | { readonly kind: Kind; readonly hasDefault: boolean }
  | { readonly kind: "section"; readonly options: Options }
  /** A list of sections. */
  | { readonly kind: "sections"; readonly options: Options };

/** The options of a section, by their names. */
export type Options = ReadonlyMap<string, Option>;

const kinds = ["boolean", "whole", "duration", "text", "texts", "map"] as const;

/**
 * Makes the options of a section.
 *
 * @param names of the options by their kinds, with blanks between them; a `*` follows one that has a default
 * @param below the sections in the section
 */
function options(
  names: Partial<Readonly<Record<Kind, string>>>,
  below: Readonly<Record<string, Option>> = {},
): Options {
  const values = kinds.flatMap((kind) =>
    (names[kind] ?? "")
      .split(/\s+/)
      .filter((name) => name !== "")
      .map((name): [string, Option] => [
        name.replace("*", ""),
        { kind, hasDefault: name.endsWith("*") },
      ]),
  );
  return new Map([...values, ...Object.entries(below)]);
}

function section(...given: Parameters<typeof options>): Option {
  return { kind: "section", options: options(...given) };
}

function sections(list: Options): Option {
  return { kind: "sections", options: list };
}

/** A section that is on or off, and of which nothing else is taken over. */
const switched = section({ boolean: "enabled" });

const proxyNames = {
  boolean: "binary_encoding include_connection_meta",
  duration: "timeout*",
  text: "endpoint",
  texts: "http_headers grpc_metadata emulated_headers",
} as const;

const proxySections: Readonly<Record<string, Option>> = {
  http: section(
    { map: "static_headers" },
    {
      status_to_code_transforms: sections(
        options(
          { whole: "status_code" },
          {
            to_error: section({ boolean: "temporary", whole: "code", text: "message" }),
            to_disconnect: section({ whole: "code", text: "reason" }),
          },
        ),
      ),
    },
  ),
  grpc: section({
    boolean: "compression",
    text: "credentials_key credentials_value",
    map: "static_metadata",
  }),
};

const proxy = section(proxyNames, proxySections);
const clientProxy = section(
  { ...proxyNames, boolean: `enabled ${proxyNames.boolean}` },
  proxySections,
);

const tokenNames = {
  boolean: "insecure_skip_jwks_endpoint_safety_check",
  whole: "hmac_previous_secret_key_valid_until",
  text: `hmac_secret_key hmac_previous_secret_key rsa_public_key ecdsa_public_key jwks_public_endpoint audience
    audience_regex issuer issuer_regex user_id_claim`,
} as const;

const buckets = sections(options({ whole: "rate", duration: "interval" }));
const rates = { buckets };
const channelRates = {
  buckets,
  namespace_overrides: sections(options({ boolean: "enabled", text: "namespace_name" }, rates)),
};
const commandRates = section(
  { boolean: "enabled" },
  {
    ...Object.fromEntries(
      ["total", "rpc", "send"].map((name) => [name, section({ boolean: "enabled" }, rates)]),
    ),
    ...Object.fromEntries(
      ["subscribe", "publish", "presence", "presence_stats", "history"].map((name) => [
        name,
        section({ boolean: "enabled" }, channelRates),
      ]),
    ),
  },
);

const client = section(
  {
    boolean: `allow_anonymous_connect_without_token disallow_anonymous_connection_tokens
      connect_include_server_time insecure_skip_token_signature_verify insecure reply_without_queue`,
    whole: `channel_limit* queue_max_size* concurrency connection_limit user_connection_limit connection_rate_limit
      history_max_publication_limit* recovery_max_publication_limit* max_messages_in_frame`,
    duration: `ping_interval* pong_timeout* expired_close_delay* expired_sub_close_delay* stale_close_delay*
      presence_update_interval* channel_position_check_delay* channel_position_max_time_lag write_delay`,
    text: "user_id_http_header",
    texts: "allowed_origins allowed_delta_types",
  },
  {
    proxy: section({}, { connect: clientProxy, refresh: clientProxy }),
    token: section(tokenNames),
    subscription_token: section({ ...tokenNames, boolean: `enabled ${tokenNames.boolean}` }),
    subscribe_to_user_personal_channel: section({
      boolean: "enabled single_connection",
      text: "personal_channel_namespace",
    }),
    connect_code_to_unidirectional_disconnect: section(
      { boolean: "enabled" },
      {
        transforms: sections(
          options({ whole: "code" }, { to: section({ whole: "code", text: "reason" }) }),
        ),
      },
    ),
    rate_limit: section({}, { client_command: commandRates, user_command: commandRates }),
  },
);

const allowed = ["client", "subscriber", "anonymous"] as const;
const allow = (verb: string) => allowed.map((whom) => `allow_${verb}_for_${whom}`).join(" ");

const channelNames = {
  boolean: `presence join_leave force_push_join_leave force_positioning allow_positioning force_recovery allow_recovery
    auto_cache_recover allow_tags_filter delta_publish allow_subscribe_for_client allow_subscribe_for_anonymous
    ${allow("publish")} ${allow("presence")} ${allow("history")} allow_user_limited_channels subscribe_proxy_enabled
    publish_proxy_enabled sub_refresh_proxy_enabled subscribe_stream_proxy_enabled
    subscribe_stream_proxy_bidirectional cache_empty_proxy_enabled state_proxy_enabled batch_flush_latest
    allow_channel_compaction keep_latest_publication shared_position_sync`,
  whole: "history_size batch_max_size",
  duration: "history_ttl history_meta_ttl batch_max_delay client_publish_debounce_interval",
  text: `force_recovery_mode channel_regex publication_data_format subscribe_proxy_name* publish_proxy_name*
    sub_refresh_proxy_name* subscribe_stream_proxy_name* cache_empty_proxy_name state_proxy_name subscription_type
    map_clients_presence_channel_prefix map_users_presence_channel_prefix subscribe_cel publish_cel presence_cel
    history_cel broker_name presence_manager_name`,
  texts: "allowed_delta_types",
} as const;

const channelSections: Readonly<Record<string, Option>> = {
  map: section({
    boolean: `remove_client_on_unsubscribe ${allow("publish")} ${allow("remove")} publish_proxy_enabled
      remove_proxy_enabled ordered`,
    whole: `stream_size default_page_size min_page_size max_page_size live_transition_max_publication_limit`,
    duration: "key_ttl stream_ttl meta_ttl subscribe_catch_up_timeout",
    text: "mode client_key publish_proxy_name* remove_proxy_name* broker_name",
  }),
  shared_poll: section({
    boolean: "publish_enabled",
    whole: "refresh_batch_size max_keys_per_connection",
    duration: "refresh_interval channel_shutdown_delay track_expired_extra_delay",
    text: "proxy_name mode",
  }),
};

const channel = section(
  {
    whole: "max_length*",
    duration: "history_meta_ttl*",
    text: "publication_data_format private_prefix* namespace_boundary* user_boundary* user_separator*",
  },
  {
    proxy: section(
      {},
      Object.fromEntries(
        `subscribe publish sub_refresh subscribe_stream map_publish map_remove shared_poll_refresh cache_empty state`
          .split(" ")
          .map((name) => [name, proxy]),
      ),
    ),
    without_namespace: section(channelNames, channelSections),
    namespaces: sections(
      options({ ...channelNames, text: `name ${channelNames.text}` }, channelSections),
    ),
  },
);

const calls = { boolean: "proxy_enabled", text: "proxy_name*" } as const;

const rpc = section(
  { text: "namespace_boundary*" },
  {
    proxy,
    ping: section({ boolean: "enabled", text: "method*" }),
    without_namespace: section(calls),
    namespaces: sections(options({ ...calls, text: `name ${calls.text}` })),
  },
);

const stream = { boolean: "enabled", whole: "max_request_body_size*", text: "handler_prefix*" };
const uniStream = section(stream, {
  connect_code_to_http_response: section(
    { boolean: "enabled" },
    {
      transforms: sections(
        options({ whole: "code" }, { to: section({ whole: "status_code", text: "body" }) }),
      ),
    },
  ),
});

const websocket = {
  boolean: "compression use_write_buffer_pool",
  whole: `compression_min_size compression_level* read_buffer_size write_buffer_size message_size_limit*
    decompressed_message_size_limit`,
  duration: "write_timeout*",
  text: "handler_prefix*",
} as const;

const uniWebsocket = `${websocket.boolean} enabled disable_closing_handshake disable_disconnect_push join_push_messages`;

const page = section({ boolean: "enabled", text: "handler_prefix*" });

/** Sections with a switch, from which nothing is taken over. */
const untaken = `grpc_api webtransport uni_grpc opentelemetry graphite clickhouse_analytics database
  distributed_rate_limit push_notifications sentry shared_poll_relay singleflight user_status user_block token_revoke
  user_tokens_invalidate broker presence_manager map_broker sockjs`.split(/\s+/);

/** Sections without a switch, from which nothing is taken over. */
const settings = "http_server log engine controller usage_stats node shutdown".split(" ");

/** All options of Centrifugo, by their paths. */
export const centrifugoOptions: Options = options(
  { boolean: "enable_unreleased_features", text: "pid_file" },
  {
    client,
    channel,
    rpc,
    proxies: sections(options({ ...proxyNames, text: `name ${proxyNames.text}` }, proxySections)),
    shared_poll: section({
      whole: "hmac_previous_secret_key_valid_until concurrency_limit",
      text: "hmac_secret_key hmac_previous_secret_key",
    }),
    http_api: section(
      {
        boolean: "disabled external insecure",
        text: "handler_prefix* key error_mode",
      },
      { jwks: switched },
    ),
    consumers: sections(options({ boolean: "enabled", text: "name type" })),
    websocket: section({ ...websocket, boolean: `disabled ${websocket.boolean}` }),
    uni_websocket: section({ ...websocket, boolean: uniWebsocket }),
    sse: section(stream),
    http_stream: section(stream),
    uni_sse: uniStream,
    uni_http_stream: uniStream,
    emulation: section({ whole: "max_request_body_size*", text: "handler_prefix*" }),
    admin: section({
      boolean: "enabled insecure external",
      text: "handler_prefix password secret web_path web_proxy_address",
    }),
    prometheus: section({
      boolean:
        "enabled instrument_http_handlers recovered_publications_histogram native_histograms",
      text: "handler_prefix*",
    }),
    health: page,
    swagger: page,
    debug: page,
    init: page,
    dev: switched,
    ...Object.fromEntries(untaken.map((name) => [name, switched])),
    ...Object.fromEntries(settings.map((name) => [name, section({})])),
  },
);

/** The option at a path; undefined if Centrifugo has none there. */
export function optionAt(path: readonly (string | number)[]): Option | undefined {
  let found: Option | undefined = { kind: "section", options: centrifugoOptions };
  for (const key of path) {
    if (found === undefined) return undefined;
    if (typeof key === "number") {
      if (found.kind !== "sections") return undefined;
      found = { kind: "section", options: found.options };
    } else if (found.kind === "section") found = found.options.get(key);
    else return undefined;
  }
  return found;
}
