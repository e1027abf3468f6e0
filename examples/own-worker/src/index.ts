import { defineConfig, dormouse, type RealtimeBindings, RealtimeError } from "dormouse-realtime";
import { Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";

export {
  BackendEntrypoint,
  ChannelObject,
  GatewayObject,
  MetricsObject,
  RealtimeEntrypoint,
  UsersObject,
} from "dormouse-realtime";

interface Bound {
  Bindings: RealtimeBindings;
  Variables: { userId: string | undefined };
}

const realtime = dormouse<Bound>({
  prefix: "/realtime",
  config: defineConfig({
    channel: {
      namespaces: [
        {
          // A channel of one user each, such as orders:#ann.
          name: "orders",
          allow_user_limited_channels: true,
          history_size: 100,
          history_ttl: "24h",
          force_recovery: true,
        },
        {
          name: "chat",
          allow_subscribe_for_client: true,
          allow_publish_for_subscriber: true,
          publish_proxy_enabled: true,
        },
      ],
    },
  }),
  user: (context) => context.get("userId"),
  // Whoever writes into a chat is named by the server.
  onPublish: ({ user, data }) => ({ result: { data: { text: data, by: user ?? "" } } }),
});

const app = new Hono<Bound>();

// The Worker's own sessions: here a cookie with a name, which a real one would sign.
app.use(async (context, next) => {
  context.set("userId", getCookie(context, "session"));
  await next();
});
app.post("/login/:name", (context) => {
  setCookie(context, "session", context.req.param("name"), { httpOnly: true, sameSite: "Lax" });
  return context.body(null, 204);
});
app.route("/realtime", realtime.app);
app.post("/orders", async (context) => {
  const userId = context.get("userId");
  if (userId === undefined) return context.text("log in first", 401);
  const order = await context.req.json<{ id: string; item: string }>();
  try {
    await realtime.publish(context.env, `orders:#${userId}`, order, { idempotencyKey: order.id });
  } catch (error) {
    if (!(error instanceof RealtimeError)) throw error;
    // The order is taken all the same; whoever looks at the page sees it after the next reload.
    console.warn(`the order ${order.id} wasn't shown live: ${error.message}`);
  }
  return context.json(order, 201);
});
app.get("/orders", async (context) => {
  const channel = `orders:#${context.get("userId") ?? ""}`;
  const { publications = [] } = await realtime.history(context.env, { channel, limit: -1 });
  return context.json(publications.map(({ data }) => data));
});

export default { fetch: app.fetch, queue: realtime.queue };
