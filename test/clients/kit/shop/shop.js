import { createHash } from "crypto";
import { DurableObject } from "cloudflare:workers";
import { greeting } from "greeting";
import { Hono } from "hono";
import { dormouse } from "../../../../package/index.ts";
import mail from "./mail.txt";

export {
  BackendEntrypoint,
  ChannelObject,
  GatewayObject,
  RealtimeEntrypoint,
  UsersObject,
} from "../../../../package/index.ts";

const orders = { history_size: 100, history_ttl: "24h", force_recovery: true };
const realtime = dormouse({
  prefix: "/realtime",
  config: {
    channel: { namespaces: [{ name: "orders", allow_user_limited_channels: true, ...orders }] },
  },
});

/** What a user has chosen: an object with SQLite. */
export class Basket extends DurableObject {
  constructor(context, env) {
    super(context, env);
    context.storage.sql.exec("CREATE TABLE IF NOT EXISTS items (name TEXT)");
  }

  async add(item) {
    this.ctx.storage.sql.exec("INSERT INTO items VALUES (?)", item);
    await this.ctx.storage.setAlarm(Date.now() + 60_000);
    return this.items();
  }

  items() {
    return Array.from(this.ctx.storage.sql.exec("SELECT name FROM items"), ({ name }) => name);
  }

  /** Nobody buys what was chosen a minute ago. */
  alarm() {
    this.ctx.storage.sql.exec("DELETE FROM items");
  }
}

/** A till as one wrote objects before they had methods. */
export class Till {
  constructor(state) {
    this.state = state;
  }

  async fetch() {
    const count = ((await this.state.storage.get("count")) ?? 0) + 1;
    await this.state.storage.put("count", count);
    return new Response(String(count));
  }
}

const app = new Hono();
app.get("/", ({ env, text }) =>
  text(`${greeting} ${SHOP_VERSION} ${env.CURRENCY} ${env.LIMITS.items} ${env.SEAL}`),
);
app.post("/orders/:user", async (context) => {
  const { env, req } = context;
  const order = await req.json();
  const user = req.param("user");
  if (!(await env.STOCK.fetch(`https://stock/${order.item}`)).ok) return context.text("gone", 409);
  const price = await env.PRICES.priceOf(order.item, env.CURRENCY);
  await env.DB.prepare("INSERT INTO orders VALUES (?, ?, ?)")
    .bind(order.id, order.item, user)
    .run();
  await env.CARTS.put(user, createHash("sha256").update(order.item).digest("hex"));
  await env.MAILS.send({ user, order });
  await realtime.publish(env, `orders:#${user}`, { ...order, price });
  return context.json({ price });
});
app.get("/uses/:binding", async ({ env, req, text }) => {
  switch (req.param("binding")) {
    case "AI":
      return text(String(await env.AI.run("a model", {}).catch((error) => error.message)));
    case "NOBODY":
      return text(await env.NOBODY.fetch("https://nobody/").catch((error) => error.message));
    case "ROOMS":
      return text(
        await env.ROOMS.getByName("lobby")
          .open()
          .catch((error) => error.message),
      );
    case "BOOKS":
      return text(env.BOOKS.connectionString);
    default:
      return text("unknown", 404);
  }
});
app.route("/realtime", realtime.app);

/** What the queue brings goes to the user's channel. */
async function takeMails({ messages }, env) {
  for (const { body } of messages)
    await realtime.publish(env, `orders:#${body.user}`, { mail: mail.trim(), id: body.order.id });
}

const shop = { fetch: app.fetch, queue: takeMails };
export default shop;
