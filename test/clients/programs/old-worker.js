import { dormouse } from "../../../package/index.ts";

export * from "../../../package/index.ts";

const kept = { history_size: 100, history_ttl: "5m", force_recovery: true };
const chat = {
  name: "chat",
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  ...kept,
};

/** A Worker of one's own that uses what depends on the compatibility date. */
const realtime = dormouse({
  prefix: "/realtime",
  config: {
    sse: { enabled: true },
    channel: { namespaces: [{ ...chat, publish_proxy_enabled: true }] },
  },
  user: () => "ann",
  onPublish: ({ data }) => ({ result: { data: { asked: data } } }),
});
export default { fetch: realtime.app.fetch };
