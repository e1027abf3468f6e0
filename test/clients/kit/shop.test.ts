import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type {
  D1Database,
  DurableObjectNamespace,
  Fetcher,
  KVNamespace,
  R2Bucket,
  Rpc,
} from "@cloudflare/workers-types";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";

/** What the tests use of the shop's environment. */
interface ShopEnv {
  readonly CURRENCY: string;
  readonly DB: D1Database;
  readonly CARTS: KVNamespace;
  readonly PICTURES: R2Bucket;
  readonly SELF: Fetcher;
  readonly BASKETS: DurableObjectNamespace<Basket>;
  readonly TILLS: DurableObjectNamespace;
  readonly PRICES: { priceOf(item: string, currency: string): Promise<string> };
}

interface Basket extends Rpc.DurableObjectBranded {
  add(item: string): readonly string[];
  items(): readonly string[];
}

const folder = "test/clients/kit/shop";
const secrets = join(folder, ".dev.vars");
const tokenSecret = "7a1f0c92e4b85d36a90e5b71c8d2f463";
const bindings = {
  STOCK: ({ url }: Request) => new Response(null, { status: url.endsWith("/tea") ? 200 : 404 }),
  PRICES: {
    priceOf(item: string, currency: string): string {
      if (currency !== "EUR") throw new RangeError(`no price in ${currency}`);
      return `${item.length} ${currency}`;
    },
  },
};

let rt: TestDormouse<ShopEnv>;
const notes: unknown[] = [];
beforeAll(async () => {
  writeFileSync(secrets, `SEAL="a secret"\nTOKEN_HMAC_SECRET_KEY="${tokenSecret}"\n`);
  const warn = vi.spyOn(console, "warn").mockImplementation((note) => void notes.push(note));
  rt = await startDormouse<ShopEnv>({ worker: join(folder, "shop.js"), prefix, bindings });
  warn.mockRestore();
});
afterAll(async () => {
  await rt.stop();
  rmSync(secrets);
});

const prefix = "/realtime";

async function textAt(path: string): Promise<string> {
  return (await fetch(`${rt.origin}${path}`)).text();
}

async function order(id: string, item = "tea"): Promise<number> {
  const body = JSON.stringify({ id, item });
  return (await fetch(`${rt.origin}/orders/ann`, { method: "POST", body })).status;
}

const ordersIn = async () => (await rt.env.DB.prepare("SELECT * FROM orders").all()).results;

const firstOrder = { id: "0", item: "a first; order", user: "ann" };
const mail = "Thank you for your order.";

const absent = (name: string, why: string) =>
  `the binding ${name} isn't there in tests, because ${why}`;

describe("[TK13] a Worker of one's own with a wrangler file", () => {
  it("has its variables, constants, secrets, aliases and assets", async () => {
    expect(rt.url).toBe(`${rt.origin}${prefix}`);
    expect(await textAt("/")).toBe("hello 7 EUR 3 a secret");
    expect(await textAt("/welcome.txt")).toBe("Welcome.\n");
    expect(rt.tokenSecret).toBe(tokenSecret);
    expect(await (await rt.env.SELF.fetch("https://shop/")).text()).toBe("hello 7 EUR 3 a secret");
  });

  it("[TK2] [TK3] [TK14] has its databases, queue and services, and loses nothing in a cut", async () => {
    const ann = await rt.client({ user: "ann", subscribe: "orders:#ann" });
    expect(await order("1")).toBe(200);
    const first = [
      { id: "1", item: "tea", price: "3 EUR" },
      { id: "1", mail },
    ];
    expect(await ann.received("orders:#ann", 2)).toEqual(first);
    await rt.cut(ann);
    expect(await order("2", "coffee")).toBe(409);
    expect(await order("2")).toBe(200);
    const all = [...first, { id: "2", item: "tea", price: "3 EUR" }, { id: "2", mail }];
    expect(await ann.received("orders:#ann", 4)).toEqual(all);
    expect(await rt.published("orders:#ann")).toEqual(all);
    expect(await ordersIn()).toEqual([
      firstOrder,
      { id: "1", item: "tea", user: "ann" },
      { id: "2", item: "tea", user: "ann" },
    ]);
    expect(await rt.env.CARTS.get("ann")).toMatch(/^[\da-f]{64}$/);
    await expect(rt.env.PRICES.priceOf("tea", "USD")).rejects.toThrow("no price in USD");
  });

  it("[TK9] is as its file says after a reset, with the migrations and nothing else", async () => {
    expect(await order("9")).toBe(200);
    await rt.env.PICTURES.put("tea", "a picture");
    await rt.env.BASKETS.getByName("ann").add("tea");
    await rt.reset();
    expect(await ordersIn()).toEqual([firstOrder]);
    expect(await rt.env.CARTS.get("ann")).toBeNull();
    expect(await rt.env.PICTURES.get("tea")).toBeNull();
    expect(await rt.env.BASKETS.getByName("ann").items()).toEqual([]);
    expect(await rt.published("orders:#ann")).toEqual([]);
  });

  it("has a sentence for each binding that isn't there, when it starts and when it is used", async () => {
    const says = {
      AI: absent("AI", "Workers AI runs on Cloudflare alone"),
      NOBODY: absent("NOBODY", "the Worker nobody doesn't run in them"),
      ROOMS: absent("ROOMS", "the Worker rooms doesn't run in them"),
    };
    for (const [name, text] of Object.entries(says)) {
      expect(await textAt(`/uses/${name}`)).toBe(text);
      expect(notes).toContainEqual(expect.stringContaining(text));
    }
    expect(await textAt("/uses/BOOKS")).toMatch(/^postgres:/);
    expect(notes).toContainEqual(expect.stringContaining("BOOKS leads to no database in tests"));
    expect(notes).toHaveLength(5);
  });

  it("[TK4] [TK5] [TK7] has its own objects, which are evicted, deployed and live by the clock", async () => {
    const basket = rt.env.BASKETS.getByName("bob");
    expect(await basket.add("tea")).toEqual(["tea"]);
    await rt.evict({ kind: "BASKETS", name: "bob" });
    expect(await basket.add("milk")).toEqual(["tea", "milk"]);
    const objects = await rt.objects();
    expect(objects).toContainEqual(
      expect.objectContaining({ kind: "BASKETS", name: "bob", starts: 2 }),
    );
    const countAt = async () => (await rt.env.TILLS.getByName("a").fetch("https://till/")).text();
    expect(await countAt()).toBe("1");
    await rt.deploy();
    await rt.evict({ kind: "TILLS", name: "a" });
    expect(await countAt()).toBe("2");
    await rt.advance("30s");
    expect(await rt.env.BASKETS.getByName("bob").items()).toEqual(["tea", "milk"]);
    await rt.advance("31s");
    expect(await rt.env.BASKETS.getByName("bob").items()).toEqual([]);
    await expect(rt.evict({ kind: "SHELVES", name: "a" })).rejects.toThrow(
      "evict: the Worker has no objects SHELVES; it has CHANNELS, GATEWAYS, USERS, BASKETS, TILLS",
    );
  });
});

it("[TK13] the file alone says which Worker it is, for an environment", async () => {
  const staging = await startDormouse<ShopEnv>({
    wrangler: join(folder, "wrangler.jsonc"),
    environment: "staging",
    prefix,
    variables: { LIMITS: { items: 1 } },
  });
  try {
    expect(await (await fetch(staging.origin)).text()).toBe("hello 8 USD 1 a secret");
    expect(Object.keys(staging.env)).not.toContain("BASKETS");
    await staging.publish("orders:#ann", 1);
    expect(await staging.published("orders:#ann")).toEqual([1]);
  } finally {
    await staging.stop();
  }
});

describe("[TK10] a wrangler file is refused", () => {
  const place = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  afterAll(() => rmSync(place, { recursive: true }));
  const worker = resolve("test/clients/kit/prefixed-worker.js");
  const bound = `[[durable_objects.bindings]]\nname = "SHELVES"\nclass_name = "Shelf"\n`;

  it.each([
    [
      "names a class that the Worker doesn't export",
      bound,
      /binds the class Shelf, which .*prefixed-worker\.js doesn't export/,
    ],
    ["isn't TOML", "[[", /wrangler can't read .*wrangler\.toml: /],
    ["has no environment of that name", "", /it has no environment staging; it has none/],
  ])("that %s", async (name, text, message) => {
    const wrangler = join(place, "wrangler.toml");
    writeFileSync(wrangler, `name = "a"\ncompatibility_date = "2026-11-02"\n${text}`);
    const environment = name.includes("environment") ? { environment: "staging" } : {};
    await expect(startDormouse({ worker, wrangler, ...environment })).rejects.toThrow(message);
  });

  it("that has no main, or isn't there", async () => {
    const wrangler = join(place, "wrangler.toml");
    writeFileSync(wrangler, `name = "a"\n`);
    await expect(startDormouse({ wrangler })).rejects.toThrow(
      "has no main: name the module in worker",
    );
    await expect(startDormouse({ wrangler: "absent.jsonc" })).rejects.toThrow("there is no file");
  });
});
