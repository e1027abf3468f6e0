import { dormouse } from "../../../package/index.ts";

export * from "../../../package/index.ts";

const orders = { allow_subscribe_for_client: true, history_size: 100, history_ttl: "5m" };
const realtime = dormouse({
  prefix: "/realtime",
  config: { channel: { namespaces: [{ name: "orders", ...orders }] } },
});

/** What a framework makes of an application: it knows nothing of the modules around it. */
const application = {
  async fetch(request, env, context) {
    if (request.method !== "POST") return new Response("mine");
    const order = await request.json();
    await context.exports.RealtimeEntrypoint.publish("orders:ann", order);
    return new Response("taken");
  },
};

/** A Worker of one's own whose real-time layer is below a prefix, before the application of a framework. */
export default {
  fetch: (request, env, context) =>
    realtime.fetch(request, env, context) ?? application.fetch(request, env, context),
};
