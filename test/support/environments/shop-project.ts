import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The main module of a shop in a Worker, with the `Env` that `wrangler types` makes. */
const main = `
import { DurableObject } from "cloudflare:workers";
import { defineConfig, dormouse } from "dormouse-realtime";
import { Hono } from "hono";

export { BackendEntrypoint, ChannelObject, GatewayObject, RealtimeEntrypoint, UsersObject } from "dormouse-realtime";

interface Bound {
  Bindings: Env;
}

const recovery = { history_size: 100, history_ttl: "24h", force_recovery: true };
const realtime = dormouse<Bound>({
  prefix: "/realtime",
  config: defineConfig({
    channel: { namespaces: [{ name: "orders", allow_user_limited_channels: true, ...recovery }] },
  }),
  user: (context) => context.req.header("user"),
});

export class Basket extends DurableObject<Env> {
  async add(item: string): Promise<number> {
    const count = ((await this.ctx.storage.get<number>(item)) ?? 0) + 1;
    await this.ctx.storage.put(item, count);
    return count;
  }
}

const app = new Hono<Bound>();
app.post("/orders/:user/:id", async ({ env, req, json, text }) => {
  const { user, id } = req.param();
  if (!(await env.STOCK.fetch("https://stock/tea")).ok) return text("gone", 409);
  await env.DB.prepare("INSERT INTO orders VALUES (?, ?)").bind(id, user).run();
  await env.CARTS.put(user, id);
  const count = await env.BASKETS.getByName(user).add("tea");
  await realtime.publish(env, \`orders:#\${user}\`, { id, count, currency: env.CURRENCY });
  await env.MAILS.send({ user, id });
  return json({ id });
});
app.route("/realtime", realtime.app);

export default {
  fetch: app.fetch,
  async queue(batch: MessageBatch<{ user: string; id: string }>, env: Env) {
    for (const { body } of batch.messages) await realtime.publish(env, \`orders:#\${body.user}\`, { mail: body.id });
  },
} satisfies ExportedHandler<Env, { user: string; id: string }>;
`;

/** A test of the shop's own, for the runner of Node.js. */
const test = `
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDormouse } from "dormouse-realtime/test";

test("a customer misses no order while the network is cut", async () => {
  const rt = await startDormouse<Env>({
    worker: "index.ts",
    prefix: "/realtime",
    bindings: { STOCK: () => new Response("yes") },
  });
  try {
    const order = (id: string) => fetch(\`\${rt.origin}/orders/ann/\${id}\`, { method: "POST" });
    const ann = await rt.client({ user: "ann", subscribe: "orders:#ann" });
    await order("1");
    await ann.received("orders:#ann", 2);
    await rt.cut(ann);
    await order("2");
    assert.deepEqual(await ann.received("orders:#ann", 4), await rt.published("orders:#ann"));
    const { results } = await rt.env.DB.prepare("SELECT id FROM orders").all();
    assert.deepEqual(results, [{ id: "1" }, { id: "2" }]);
    assert.equal(await rt.env.CARTS.get("ann"), "2");
    assert.equal(await rt.env.BASKETS.getByName("ann").add("tea"), 3);
  } finally {
    await rt.stop();
  }
});
`;

const realtimeClasses = ["ChannelObject", "GatewayObject", "UsersObject"];
const config = {
  name: "shop",
  main: "index.ts",
  compatibility_date: "2026-11-02",
  compatibility_flags: ["no_web_socket_compression"],
  vars: { CURRENCY: "EUR" },
  kv_namespaces: [{ binding: "CARTS", id: "0f2ac74b498b48028cb68387c421e279" }],
  d1_databases: [{ binding: "DB", database_name: "shop", database_id: "shop" }],
  queues: {
    producers: [{ binding: "MAILS", queue: "mails" }],
    consumers: [{ queue: "mails", max_batch_timeout: 0 }],
  },
  services: [{ binding: "STOCK", service: "stock" }],
  durable_objects: {
    bindings: [
      { name: "CHANNELS", class_name: "ChannelObject" },
      { name: "GATEWAYS", class_name: "GatewayObject" },
      { name: "USERS", class_name: "UsersObject" },
      { name: "BASKETS", class_name: "Basket" },
    ],
  },
  migrations: [{ tag: "v1", new_sqlite_classes: [...realtimeClasses, "Basket"] }],
};

const compilerOptions = {
  target: "ES2024",
  lib: ["ES2024"],
  module: "ESNext",
  moduleResolution: "bundler",
  types: ["./worker-configuration.d.ts"],
  strict: true,
  noEmit: true,
};

const files = {
  "package.json": JSON.stringify({ type: "module" }),
  "wrangler.json": JSON.stringify(config),
  "tsconfig.json": JSON.stringify({ compilerOptions, include: ["index.ts"] }),
  "index.ts": main,
  "migrations/0001_orders.sql": "CREATE TABLE orders (id TEXT PRIMARY KEY, user TEXT NOT NULL);",
  "shop.test.ts": test,
};

/** Writes the project of a shop into a folder of one that has the package installed. */
export function writeShop(folder: string): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text.trimStart());
  }
}
