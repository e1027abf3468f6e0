import { defineConfig, dormouse, type RealtimeBindings } from "dormouse-realtime";
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
  Variables: { guest: string | undefined };
}

const realtime = dormouse<Bound>({
  prefix: "/realtime",
  config: defineConfig({
    channel: {
      namespaces: [
        {
          name: "chat",
          allow_subscribe_for_client: true,
          // Who was away gets what was said meanwhile.
          history_size: 100,
          history_ttl: "24h",
          force_recovery: true,
          allow_history_for_subscriber: true,
        },
      ],
    },
  }),
  user: (context) => context.get("guest"),
});

const app = new Hono<Bound>();

// The Worker's own sessions: everybody is a guest with a random name of a cookie, which nobody else is told.
app.use(async (context, next) => {
  context.set("guest", getCookie(context, "guest"));
  await next();
});
app.post("/join", (context) => {
  const guest = context.get("guest") ?? crypto.randomUUID();
  setCookie(context, "guest", guest, { httpOnly: true, sameSite: "Lax", secure: true });
  return context.body(null, 204);
});
app.post("/messages", async (context) => {
  if (context.get("guest") === undefined) return context.text("join first", 401);
  const { name, text } = await context.req.json<{ name?: unknown; text?: unknown }>();
  if (typeof name !== "string" || typeof text !== "string" || text === "" || text.length > 1_000)
    return context.text("a message has a name, and a text of 1 to 1,000 characters", 400);
  await realtime.publish(context.env, "chat:lobby", { name: name.slice(0, 40), text });
  return context.body(null, 204);
});
app.route("/realtime", realtime.app);

export default { fetch: app.fetch, queue: realtime.queue };
