/** The configuration of the tests of the kit. */
export const kitConfig = {
  client: { allow_anonymous_connect_without_token: true },
  channel: {
    namespaces: [
      {
        name: "orders",
        allow_subscribe_for_client: true,
        history_size: 100,
        history_ttl: "5m",
        force_recovery: true,
      },
      { name: "plain", allow_subscribe_for_client: true },
      { name: "chat", allow_subscribe_for_client: true, publish_proxy_enabled: true },
      { name: "closed" },
    ],
  },
};
