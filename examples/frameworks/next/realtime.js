import { defineConfig, dormouse } from "dormouse-realtime";

export const realtime = dormouse({
  prefix: "/realtime",
  config: defineConfig({
    channel: {
      namespaces: [
        { name: "news", allow_subscribe_for_client: true, history_size: 10, history_ttl: "1h" },
      ],
    },
  }),
  // Who connects: here a cookie with a name, which a real session would sign.
  user: ({ req }) => /\bsession=(\w+)/.exec(req.header("Cookie") ?? "")?.[1],
});
