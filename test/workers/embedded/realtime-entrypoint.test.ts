import { createExecutionContext, evictDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { operationNames } from "../../../src/api/operations.ts";
import { RealtimeEntrypoint } from "../../../workers/embedded/realtime-entrypoint.ts";
import type { RealtimeService } from "../../../workers/embedded/realtime-methods.ts";
import { testConfig, testSecrets } from "../support/test-config.ts";
import { keptData } from "../support/api-request.ts";

const entrypoint: RealtimeService = Reflect.get(exports, "RealtimeEntrypoint");

/** What another Worker sees of an error: its name and its message. */
async function refusalOf(call: PromiseLike<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return String(error);
  }
  return "it was carried out";
}

describe("another Worker's calls", () => {
  it("[OW4] publish without a key, once for each idempotency key, awake and after an eviction", async () => {
    const channel = `calls-${crypto.randomUUID()}`;
    const first = await entrypoint.publish(channel, { text: "hello" }, { idempotencyKey: "1" });
    expect(first).toMatchObject({ offset: 1 });
    await evictDurableObject(env.CHANNELS.getByName(channel));
    expect(await entrypoint.publish(channel, { text: "hello" }, { idempotencyKey: "1" })).toEqual(
      first,
    );
    expect(await keptData(channel)).toEqual(['{"text":"hello"}']);
  });

  it("[OW4] give the `result` of the HTTP API", async () => {
    const channel = `calls-${crypto.randomUUID()}`;
    await entrypoint.broadcast([channel], "hello", { tags: { kind: "greeting" } });
    const history = await entrypoint.history({ channel, limit: -1 });
    expect(history).toMatchObject({
      offset: 1,
      publications: [{ data: "hello", tags: { kind: "greeting" }, offset: 1 }],
    });
    expect(await entrypoint.presence_stats({ channel })).toEqual({ num_clients: 0, num_users: 0 });
  });

  it("[OW4] that are refused throw with the code and the cause", async () => {
    expect(await refusalOf(entrypoint.publish("unknown:channel", 1))).toBe(
      "RealtimeError: 102: unknown channel: the channel's namespace is not configured",
    );
    expect(await refusalOf(entrypoint.publish("", 1))).toContain("RealtimeError: 107: bad request");
    expect(await refusalOf(entrypoint.history({ channel: "news", limit: 1.5 }))).toContain("limit");
  });

  it("[OW4] have a method for each command of the table", () => {
    const methods = Object.getOwnPropertyNames(RealtimeEntrypoint.prototype);
    const names = operationNames((row) => row.at !== "events");
    expect(names.filter((name) => !methods.includes(name))).toEqual([]);
  });

  it("[OW5] have the rights of the key with the caller's name, and without one all", async () => {
    const keys = [
      { name: "orders", secret: "API_KEY_ORDERS", methods: ["publish"], channels: ["room:*"] },
    ];
    const API_KEY_ORDERS = `${testSecrets.API_KEY}-of-orders`;
    const bound = { ...env, API_KEY_ORDERS, config: { ...testConfig, http_api: { keys } } };
    const calledBy = (props: object) =>
      new RealtimeEntrypoint(Object.assign(createExecutionContext(), { props }), bound);
    const channel = `room:${crypto.randomUUID()}`;
    const orders = calledBy({ name: "orders" });
    expect(await orders.publish(channel, 1)).toMatchObject({ offset: 1 });
    for (const refused of [orders.publish("news", 1), orders.history({ channel })])
      expect(await refusalOf(refused)).toMatch(
        /103: permission denied: the API key "orders" of http_api.keys doesn't admit/,
      );
    for (const props of [{ name: "another" }, { name: 1 }, { name: "" }])
      expect(await refusalOf(calledBy(props).history({ channel }))).toContain(
        "103: permission denied: the binding's props.name isn't in http_api.keys",
      );
    expect(await calledBy({}).history({ channel })).toMatchObject({ offset: 1 });
  });
});
