import { channel, dormouse } from "../../../package/index.ts";

export * from "../../../package/index.ts";

const orders = { allow_subscribe_for_client: true, history_size: 100, history_ttl: "5m" };
const realtime = dormouse({
  prefix: "/realtime",
  config: { channel: { namespaces: [{ name: "orders", ...orders }] } },
  channels: {
    orders: channel({
      procedures: {
        cancel(ctx, { item }) {
          ctx.publish({ cancelled: item });
          return { isBackend: ctx.isBackend };
        },
        refuse: (ctx) => ctx.reject(1001, "too late"),
      },
    }),
  },
});

/** What a framework makes of an application: it knows nothing of the modules around it. */
const application = {
  async fetch(request, env, context) {
    if (request.method === "DELETE") return Response.json(await cancelled(env));
    if (request.method !== "POST") return new Response("mine");
    const order = await request.json();
    await context.exports.RealtimeEntrypoint.publish("orders:ann", order);
    return new Response("taken");
  },
};

/** What a procedure gives to the Worker's own code, and the code of one that rejects. */
async function cancelled(env) {
  const args = { item: "tea" };
  const refusal = await realtime.call(env, "orders:ann", "refuse").catch(({ code }) => code);
  return [await realtime.call(env, "orders:ann", "cancel", args), refusal];
}

/** A Worker of one's own whose real-time layer is below a prefix, before the application of a framework. */
export default {
  fetch: (request, env, context) =>
    realtime.fetch(request, env, context) ?? application.fetch(request, env, context),
};
