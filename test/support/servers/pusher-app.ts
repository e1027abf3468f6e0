/** An application of the Pusher protocol, as its servers and clients know it; Python's library takes no ID but a number. */
export const shopApp = { id: "1001", key: "shop-key", namespace: "shop" } as const;

/** What the application signs with, by the name of the Worker's secret. */
export const shopSecrets = {
  PUSHER_SECRET_SHOP: "the secret of the shop, which nobody else knows",
} as const;

/** The configuration for it, whose channels a client of the server's own protocol may read. */
export const shopConfig = {
  channel: {
    namespaces: [
      {
        name: shopApp.namespace,
        presence: true,
        history_size: 10,
        history_ttl: "10m",
        allow_subscribe_for_client: true,
        allow_history_for_client: true,
      },
    ],
  },
  pusher: { apps: [{ ...shopApp, secret: "PUSHER_SECRET_SHOP", enable_client_messages: true }] },
};
