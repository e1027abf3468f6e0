import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startDormouse, type TestDormouse } from "../../../package/test/index.ts";

const config = {
  client: { allow_anonymous_connect_without_token: true },
  channel: {
    without_namespace: { history_size: 0 },
    namespaces: [
      {
        name: "orders",
        allow_subscribe_for_client: true,
        history_size: 100,
        history_ttl: "5m",
        force_recovery: true,
      },
      {
        name: "plain",
        allow_subscribe_for_client: true,
        presence: true,
      },
      {
        name: "chat",
        allow_subscribe_for_client: true,
        publish_proxy_enabled: true,
      },
    ],
  },
};

let rt: TestDormouse;
beforeAll(async () => {
  rt = await startDormouse({
    config,
    hooks: { onPublish: ({ data }) => ({ result: { data: { said: data } } }) },
  });
});
beforeEach(() => rt.reset());
afterAll(() => rt.stop());

const order = (number: number) => rt.publish("orders:ann", number);

/** How often the channel's object has started. */
async function starts(channel: string): Promise<number> {
  const objects = await rt.objects();
  return objects.find(({ kind, name }) => kind === "CHANNELS" && name === channel)?.starts ?? 0;
}

describe("the example of the documentation", () => {
  it("the customer misses nothing while we deploy", async () => {
    const ann = await rt.client({ user: "ann", subscribe: ["orders:ann"] });
    await order(1);
    await rt.cut(ann);
    await order(2);
    const before = await starts("orders:ann");
    await rt.evict("orders:ann");
    await order(3);
    await expect(ann.received("orders:ann", 3)).resolves.toEqual([1, 2, 3]);
    expect(await starts("orders:ann")).toBe(before + 1);
    expect(await rt.published("orders:ann")).toEqual([1, 2, 3]);
  });
});

describe("faults", () => {
  it("deploys", async () => {
    const ann = await rt.client({ user: "ann", subscribe: ["orders:ann"] });
    await order(1);
    await ann.received("orders:ann", 1);
    await rt.deploy();
    await order(2);
    expect(await ann.received("orders:ann", 2)).toEqual([1, 2]);
  });

  it("loses frames", async () => {
    const ann = await rt.client({ user: "ann", subscribe: "plain:1" });
    rt.lose(1, ann);
    await rt.publish("plain:1", 1);
    await rt.publish("plain:1", 2);
    expect(await ann.received("plain:1", 1)).toEqual([2]);
  });

  it("is late", async () => {
    const ann = await rt.client({ user: "ann", subscribe: "plain:1" });
    const bob = await rt.client({ user: "bob", subscribe: "plain:1" });
    rt.late(200, ann);
    await rt.publish("plain:1", 1);
    await bob.received("plain:1", 1);
    expect(await ann.received("plain:1")).toEqual([]);
    expect(await ann.received("plain:1", 1)).toEqual([1]);
  });
});

describe("advance", () => {
  it("ends a history", async () => {
    await order(1);
    await rt.advance("4m");
    expect(
      (await rt.api("history", { channel: "orders:ann", limit: 10 }))["publications"],
    ).toHaveLength(1);
    await rt.advance("2m");
    expect((await rt.api("history", { channel: "orders:ann", limit: 10 }))["publications"]).toEqual(
      [],
    );
  });
  it("pings", async () => {
    const ann = await rt.client({ user: "ann", subscribe: "plain:1" });
    await rt.advance("10m");
    await rt.publish("plain:1", 1);
    expect(await ann.received("plain:1", 1)).toEqual([1]);
  });
});

describe("hooks", () => {
  it("are answered", async () => {
    const ann = await rt.client({ user: "ann", subscribe: "chat:1" });
    await ann.sdk.publish("chat:1", "hello");
    expect(await ann.received("chat:1", 1)).toEqual([{ said: "hello" }]);
    expect(rt.asked("publish")).toMatchObject([
      { hook: "publish", question: { user: "ann", data: "hello" } },
    ]);
  });
});
