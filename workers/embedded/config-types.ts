// Written by `npm run package-types`. Don't edit it: a test compares it.

/** The configuration, as it stands under `[vars.config]` (docs/configuration.md). */
export interface DormouseConfig {
  readonly channel?: {
    /** A duration such as "25s", "5m" or "720h". */
    readonly history_meta_ttl?: string;
    readonly max_length?: number;
    readonly namespace_boundary?: string;
    readonly namespaces?: readonly (ConfigChannelOptions & {
      readonly name?: string;
    })[];
    readonly private_prefix?: string;
    readonly proxy?: {
      readonly map_publish?: ConfigBackend;
      readonly map_remove?: ConfigBackend;
      readonly publish?: ConfigBackend;
      readonly shared_poll_refresh?: ConfigBackend;
      readonly sub_refresh?: ConfigBackend;
      readonly subscribe?: ConfigBackend;
    };
    readonly publication_data_format?: "" | "json" | "json_object" | "binary";
    readonly user_boundary?: string;
    readonly user_separator?: string;
    readonly without_namespace?: ConfigChannelOptions;
  };
  readonly client?: {
    readonly allow_anonymous_connect_without_token?: boolean;
    readonly allowed_origins?: readonly string[];
    readonly channel_limit?: number;
    readonly connect_include_server_time?: boolean;
    readonly connection_limit?: number;
    readonly connection_rate_limit?: number;
    readonly disallow_anonymous_connection_tokens?: boolean;
    /** A duration such as "25s", "5m" or "720h". */
    readonly expired_close_delay?: string;
    /** A duration such as "25s", "5m" or "720h". */
    readonly expired_sub_close_delay?: string;
    readonly history_max_publication_limit?: number;
    readonly insecure?: boolean;
    /** A duration such as "25s", "5m" or "720h". */
    readonly ping_interval?: string;
    readonly pong?: "auto" | "always" | "never";
    readonly proxy?: {
      readonly connect?: {
        readonly at?: "connect" | "upgrade";
        readonly binary_encoding?: boolean;
        readonly emulated_headers?: readonly string[];
        readonly enabled?: boolean;
        readonly endpoint?: string;
        readonly http?: ConfigBackendHttp;
        readonly http_headers?: readonly string[];
        readonly include_connection_meta?: boolean;
        /** A duration such as "25s", "5m" or "720h". */
        readonly timeout?: string;
      };
      readonly message?: {
        readonly binary_encoding?: boolean;
        readonly emulated_headers?: readonly string[];
        readonly enabled?: boolean;
        readonly endpoint?: string;
        readonly http?: ConfigBackendHttp;
        readonly http_headers?: readonly string[];
        readonly include_connection_meta?: boolean;
        /** A duration such as "25s", "5m" or "720h". */
        readonly timeout?: string;
      };
      readonly refresh?: {
        readonly binary_encoding?: boolean;
        readonly emulated_headers?: readonly string[];
        readonly enabled?: boolean;
        readonly endpoint?: string;
        readonly http?: ConfigBackendHttp;
        readonly http_headers?: readonly string[];
        readonly include_connection_meta?: boolean;
        /** A duration such as "25s", "5m" or "720h". */
        readonly timeout?: string;
      };
    };
    readonly queue_max_size?: number;
    readonly rate_limit?: {
      readonly client_command?: ConfigCommandRates;
      readonly user_command?: ConfigCommandRates;
    };
    readonly recovery_max_publication_limit?: number;
    readonly require_edge_token?: boolean;
    /** A duration such as "25s", "5m" or "720h". */
    readonly stale_close_delay?: string;
    readonly subscribe_to_user_personal_channel?: {
      readonly enabled?: boolean;
      readonly personal_channel_namespace?: string;
      readonly single_connection?: boolean;
    };
    readonly subscription_token?: {
      readonly audience?: string;
      readonly audience_regex?: string;
      readonly ecdsa_public_key?: string;
      readonly eddsa_public_key?: string;
      readonly enabled?: boolean;
      readonly hmac_previous_secret_key_valid_until?: number;
      readonly issuer?: string;
      readonly issuer_regex?: string;
      readonly issuers?: readonly ConfigTokenIssuer[];
      readonly jwks_public_endpoint?: string;
      readonly rsa_public_key?: string;
      readonly user_id_claim?: string;
    };
    readonly token?: {
      readonly audience?: string;
      readonly audience_regex?: string;
      readonly ecdsa_public_key?: string;
      readonly eddsa_public_key?: string;
      readonly hmac_previous_secret_key_valid_until?: number;
      readonly issuer?: string;
      readonly issuer_regex?: string;
      readonly issuers?: readonly ConfigTokenIssuer[];
      readonly jwks_public_endpoint?: string;
      readonly rsa_public_key?: string;
      readonly user_id_claim?: string;
    };
    readonly token_cookie?: string;
    readonly user_connection_limit?: number;
    readonly users?: {
      readonly enabled?: boolean;
      readonly status?: {
        readonly enabled?: boolean;
      };
    };
  };
  readonly console?: {
    readonly access_audience?: string;
    readonly access_team_domain?: string;
    readonly enabled?: boolean;
  };
  readonly consumers?: readonly {
    readonly cloudflare_queue?: {
      readonly channels?: readonly string[];
      readonly dead_letter?: string;
      readonly methods?: readonly string[];
      readonly publication_data_mode?: {
        readonly enabled?: boolean;
      };
      readonly queue?: string;
    };
    readonly enabled?: boolean;
    readonly name?: string;
    readonly type?: string;
  }[];
  readonly events?: {
    readonly batch_max?: number;
    /** A duration such as "25s", "5m" or "720h". */
    readonly keep?: string;
    readonly keep_max?: number;
    readonly namespaces?: readonly string[];
    readonly target?: string;
    readonly types?: readonly string[];
  };
  readonly http_api?: {
    readonly error_mode?: "" | "transport";
    readonly insecure?: boolean;
    readonly keys?: readonly {
      readonly channels?: readonly string[];
      readonly methods?: readonly string[];
      readonly name?: string;
      readonly secret?: string;
    }[];
  };
  readonly http_stream?: {
    readonly enabled?: boolean;
  };
  readonly insecure_endpoints?: boolean;
  readonly long_poll?: {
    readonly enabled?: boolean;
  };
  readonly placement?: {
    readonly gateway_location?:
      | ""
      | "wnam"
      | "enam"
      | "sam"
      | "weur"
      | "eeur"
      | "apac"
      | "apac-ne"
      | "apac-se"
      | "oc"
      | "afr"
      | "me";
    readonly jurisdiction?: "" | "none" | "eu" | "us" | "fedramp" | "fedramp-high";
    readonly jurisdiction_before?: "" | "new" | "none" | "eu" | "us" | "fedramp" | "fedramp-high";
    readonly location?:
      | ""
      | "wnam"
      | "enam"
      | "sam"
      | "weur"
      | "eeur"
      | "apac"
      | "apac-ne"
      | "apac-se"
      | "oc"
      | "afr"
      | "me";
  };
  readonly prometheus?: {
    readonly enabled?: boolean;
  };
  readonly proxies?: readonly {
    readonly binary_encoding?: boolean;
    readonly emulated_headers?: readonly string[];
    readonly endpoint?: string;
    readonly http?: ConfigBackendHttp;
    readonly http_headers?: readonly string[];
    readonly include_connection_meta?: boolean;
    readonly name?: string;
    /** A duration such as "25s", "5m" or "720h". */
    readonly timeout?: string;
  }[];
  readonly rpc?: {
    readonly namespace_boundary?: string;
    readonly namespaces?: readonly {
      readonly name?: string;
      readonly proxy_enabled?: boolean;
      readonly proxy_name?: string;
    }[];
    readonly ping?: {
      readonly enabled?: boolean;
    };
    readonly proxy?: ConfigBackend;
    readonly without_namespace?: {
      readonly proxy_enabled?: boolean;
      readonly proxy_name?: string;
    };
  };
  readonly shared_poll?: {
    readonly hmac_previous_secret_key_valid_until?: number;
  };
  readonly sse?: {
    readonly enabled?: boolean;
  };
  readonly swagger?: {
    readonly enabled?: boolean;
  };
  readonly uni_http_stream?: {
    readonly enabled?: boolean;
  };
  readonly uni_sse?: {
    readonly enabled?: boolean;
  };
  readonly uni_websocket?: {
    readonly enabled?: boolean;
  };
}

interface ConfigChannelOptions {
  readonly allow_history_for_anonymous?: boolean;
  readonly allow_history_for_client?: boolean;
  readonly allow_history_for_subscriber?: boolean;
  readonly allow_positioning?: boolean;
  readonly allow_presence_for_anonymous?: boolean;
  readonly allow_presence_for_client?: boolean;
  readonly allow_presence_for_subscriber?: boolean;
  readonly allow_publish_for_anonymous?: boolean;
  readonly allow_publish_for_client?: boolean;
  readonly allow_publish_for_subscriber?: boolean;
  readonly allow_recovery?: boolean;
  readonly allow_subscribe_for_anonymous?: boolean;
  readonly allow_subscribe_for_client?: boolean;
  readonly allow_tags_filter?: boolean;
  readonly allow_user_limited_channels?: boolean;
  readonly allowed_delta_types?: readonly string[];
  readonly auto_cache_recover?: boolean;
  readonly channel_regex?: string;
  readonly cursors?: {
    readonly audience?: "none" | "subscribed" | "named";
    readonly enabled?: boolean;
    /** A duration such as "25s", "5m" or "720h". */
    readonly notify_after?: string;
    readonly notify_seen?: boolean;
    readonly notify_unless?: "got" | "read";
    readonly receipts?: "backend" | "publisher" | "subscriber";
    readonly receipts_channel_prefix?: string;
    readonly unread_from?: "all" | "none" | "subscribed";
    readonly unread_max?: number;
    /** A tags filter. */
    readonly unread_tags_filter?: { readonly [name: string]: unknown };
  };
  readonly delta_publish?: boolean;
  readonly force_positioning?: boolean;
  readonly force_push_join_leave?: boolean;
  readonly force_recovery?: boolean;
  readonly force_recovery_mode?: "" | "stream" | "cache";
  /** A duration such as "25s", "5m" or "720h". */
  readonly history_meta_ttl?: string;
  readonly history_size?: number;
  /** A duration such as "25s", "5m" or "720h". */
  readonly history_ttl?: string;
  readonly join_leave?: boolean;
  readonly jurisdiction?: "" | "none" | "eu" | "us" | "fedramp" | "fedramp-high";
  readonly limited_channels_for_subscribers_only?: boolean;
  readonly location?:
    | ""
    | "wnam"
    | "enam"
    | "sam"
    | "weur"
    | "eeur"
    | "apac"
    | "apac-ne"
    | "apac-se"
    | "oc"
    | "afr"
    | "me";
  readonly map?: {
    readonly allow_publish_for_anonymous?: boolean;
    readonly allow_publish_for_client?: boolean;
    readonly allow_publish_for_subscriber?: boolean;
    readonly allow_remove_for_anonymous?: boolean;
    readonly allow_remove_for_client?: boolean;
    readonly allow_remove_for_subscriber?: boolean;
    /** A duration such as "25s", "5m" or "720h". */
    readonly append_window?: string;
    readonly client_key?: "" | "client_id" | "user_id";
    readonly default_page_size?: number;
    /** A duration such as "25s", "5m" or "720h". */
    readonly key_ttl?: string;
    readonly live_transition_max_publication_limit?: number;
    readonly max_page_size?: number;
    /** A duration such as "25s", "5m" or "720h". */
    readonly meta_ttl?: string;
    readonly min_page_size?: number;
    readonly mode?: "" | "ephemeral" | "recoverable" | "persistent";
    readonly publish_proxy_enabled?: boolean;
    readonly publish_proxy_name?: string;
    readonly remove_client_on_unsubscribe?: boolean;
    readonly remove_proxy_enabled?: boolean;
    readonly remove_proxy_name?: string;
    readonly stream_size?: number;
    /** A duration such as "25s", "5m" or "720h". */
    readonly stream_ttl?: string;
    /** A duration such as "25s", "5m" or "720h". */
    readonly subscribe_catch_up_timeout?: string;
  };
  readonly map_clients_presence_channel_prefix?: string;
  readonly map_users_presence_channel_prefix?: string;
  readonly presence?: boolean;
  readonly publication_data_format?: "" | "json" | "json_object" | "binary";
  readonly publish_proxy_enabled?: boolean;
  readonly publish_proxy_name?: string;
  readonly shared_poll?: {
    /** A duration such as "25s", "5m" or "720h". */
    readonly channel_shutdown_delay?: string;
    readonly max_keys_per_connection?: number;
    readonly mode?: "" | "versionless" | "versioned";
    readonly proxy_name?: string;
    readonly publish_enabled?: boolean;
    readonly refresh_batch_size?: number;
    /** A duration such as "25s", "5m" or "720h". */
    readonly refresh_interval?: string;
    /** A duration such as "25s", "5m" or "720h". */
    readonly track_expired_extra_delay?: string;
  };
  readonly sub_refresh_proxy_enabled?: boolean;
  readonly sub_refresh_proxy_name?: string;
  readonly subscribe_proxy_enabled?: boolean;
  readonly subscribe_proxy_name?: string;
  readonly subscription_type?:
    | ""
    | "stream"
    | "map"
    | "map_clients"
    | "map_users"
    | "map_receipts"
    | "shared_poll";
}

interface ConfigBackend {
  readonly binary_encoding?: boolean;
  readonly emulated_headers?: readonly string[];
  readonly endpoint?: string;
  readonly http?: ConfigBackendHttp;
  readonly http_headers?: readonly string[];
  readonly include_connection_meta?: boolean;
  /** A duration such as "25s", "5m" or "720h". */
  readonly timeout?: string;
}

interface ConfigBackendHttp {
  readonly static_headers?: { readonly [name: string]: string };
  readonly status_to_code_transforms?: readonly ConfigStatusTransform[];
}

interface ConfigStatusTransform {
  readonly status_code?: number;
  readonly to_disconnect?: {
    readonly code?: number;
    readonly reason?: string;
  };
  readonly to_error?: {
    readonly code?: number;
    readonly message?: string;
    readonly temporary?: boolean;
  };
}

interface ConfigCommandRates {
  readonly enabled?: boolean;
  readonly history?: ConfigChannelRate;
  readonly presence?: ConfigChannelRate;
  readonly presence_stats?: ConfigChannelRate;
  readonly publish?: ConfigChannelRate;
  readonly rpc?: ConfigRate;
  readonly send?: ConfigRate;
  readonly subscribe?: ConfigChannelRate;
  readonly total?: ConfigRate;
}

interface ConfigChannelRate {
  readonly buckets?: readonly ConfigRateBucket[];
  readonly enabled?: boolean;
  readonly namespace_overrides?: readonly ConfigNamespaceRate[];
}

interface ConfigNamespaceRate {
  readonly buckets?: readonly ConfigRateBucket[];
  readonly enabled?: boolean;
  readonly namespace_name?: string;
}

interface ConfigRate {
  readonly buckets?: readonly ConfigRateBucket[];
  readonly enabled?: boolean;
}

interface ConfigRateBucket {
  /** A duration such as "25s", "5m" or "720h". */
  readonly interval?: string;
  readonly rate?: number;
}

interface ConfigTokenIssuer {
  readonly audience?: string;
  readonly audience_regex?: string;
  readonly ecdsa_public_key?: string;
  readonly eddsa_public_key?: string;
  readonly hmac_previous_secret_key_valid_until?: number;
  readonly hmac_secret?: string;
  readonly issuer?: string;
  readonly jwks_public_endpoint?: string;
  readonly rsa_public_key?: string;
  readonly user_id_claim?: string;
}
