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

const chat = {
  name: "chat",
  allow_subscribe_for_client: true,
  allow_publish_for_subscriber: true,
  publish_proxy_enabled: true,
  // Who was away gets what was said meanwhile, and who comes reads what was said before.
  history_size: 200,
  history_ttl: "720h",
  force_recovery: true,
  allow_history_for_subscriber: true,
  cursors: { enabled: true },
  map_clients_presence_channel_prefix: "here:",
};
const here = {
  name: "here",
  subscription_type: "map_clients",
  allow_subscribe_for_client: true,
} as const;
const typing = {
  name: "typing",
  subscription_type: "map",
  allow_subscribe_for_client: true,
} as const;
const mayType = { allow_publish_for_subscriber: true, allow_remove_for_subscriber: true };
const ownKey = { client_key: "client_id", remove_client_on_unsubscribe: true } as const;

const realtime = dormouse<{ Bindings: RealtimeBindings }>({
  prefix: "/realtime",
  config: defineConfig({
    channel: {
      namespaces: [
        chat,
        { ...here, map: { mode: "ephemeral", key_ttl: "60s" } },
        { ...typing, map: { mode: "ephemeral", key_ttl: "5s", ...mayType, ...ownKey } },
      ],
    },
  }),
  user: async (context) => {
    const secret = getCookie(context, "guest");
    return secret === undefined ? undefined : guestOf(secret);
  },
  // Each message passes here before anybody gets it.
  onPublish: ({ data }) => {
    const { text } = Object(data);
    if (typeof text !== "string" || text.trim() === "" || text.length > 2_000)
      return { error: { code: 1000, message: "a message has 1 to 2,000 characters" } };
    return { result: { data: { text, at: Date.now() } } };
  },
});

const app = new Hono<{ Bindings: RealtimeBindings }>();

// The Worker's own sessions: a guest has a secret in a cookie.
app.get("/me", async (context) => {
  const secret = getCookie(context, "guest") ?? crypto.randomUUID();
  const secure = new URL(context.req.url).protocol === "https:";
  setCookie(context, "guest", secret, { secure, httpOnly: true, sameSite: "Lax", maxAge: 3e7 });
  return context.json(await guestOf(secret));
});
app.route("/realtime", realtime.app);

const moods = ["Bright", "Calm", "Clever", "Gentle", "Jolly", "Quick", "Quiet", "Sleepy"];
const animals = ["Badger", "Dormouse", "Fox", "Heron", "Lynx", "Magpie", "Otter", "Seal"];

/** A guest as everybody sees it. Nobody finds the secret from the hash. */
async function guestOf(secret: string): Promise<{ user: string; info: { name: string } }> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  const [mood = 0, animal = 0, ...others] = new Uint8Array(digest);
  const name = `${moods[mood % 8]} ${animals[animal % 8]}`;
  return { user: others.slice(0, 12).join("-"), info: { name } };
}

export default { fetch: app.fetch, queue: realtime.queue };
