/**
 * The configuration of the Worker under test, as an operator would write it. Each namespace is for one kind of test;
 * options that aren't named are off.
 */
export const testConfig = {
  client: {
    // One more than it takes to make publications share a frame.
    connection_limit: 201,
    allowed_origins: ["https://app.example.com"],
    history_max_publication_limit: 4,
    token_cookie: "dormouse-token",
  },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
      presence: true,
      allow_presence_for_subscriber: true,
    },
    namespaces: [
      {
        // All permissions for clients, with history.
        name: "room",
        allow_subscribe_for_client: true,
        allow_publish_for_subscriber: true,
        allow_presence_for_subscriber: true,
        allow_history_for_subscriber: true,
        presence: true,
        join_leave: true,
        force_push_join_leave: true,
        history_size: 10,
        history_ttl: "5m",
        force_recovery: true,
      },
      {
        // The same as far as it goes without history.
        name: "plain",
        allow_subscribe_for_client: true,
        allow_publish_for_client: true,
        allow_presence_for_client: true,
        presence: true,
      },
      // A ring so small that it wraps.
      { name: "ring", history_size: 3, history_ttl: "10m" },
      // A stream that ends while a test can wait for it by moving the clock.
      {
        name: "brief",
        allow_subscribe_for_client: true,
        history_size: 3,
        history_ttl: "1m",
        history_meta_ttl: "1m",
        force_recovery: true,
      },
      // Cache recovery: for clients that ask for it, and for all.
      {
        name: "cache",
        allow_subscribe_for_client: true,
        history_size: 3,
        history_ttl: "5m",
        force_recovery: true,
        force_recovery_mode: "cache",
      },
      {
        name: "latest",
        allow_subscribe_for_client: true,
        history_size: 1,
        history_ttl: "5m",
        force_recovery: true,
        force_recovery_mode: "cache",
        auto_cache_recover: true,
      },
      { name: "objects", publication_data_format: "json_object" },
      {
        name: "bytes",
        publication_data_format: "binary",
        allow_subscribe_for_client: true,
        allow_publish_for_client: true,
        history_size: 5,
        history_ttl: "5m",
      },
      {
        name: "bytemap",
        publication_data_format: "binary",
        subscription_type: "map",
        map: { mode: "persistent" },
      },
      { name: "digits", channel_regex: "^[0-9]+$" },
      // Only for clients with a subscription token.
      { name: "closed", presence: true },
    ],
  },
};

/** The secrets of the Worker under test; of no use anywhere else. */
export const testSecrets = {
  API_KEY: "api-key-of-worker-tests",
  TOKEN_HMAC_SECRET_KEY: "test-token-hmac-secret-key-of-enough-length",
};
