import { createExecutionContext, evictDurableObject } from "cloudflare:test";
import { env, exports, WorkerEntrypoint } from "cloudflare:workers";
import { describe, expect, expectTypeOf, it } from "vitest";
import { operationNames } from "../../../src/api/operations.ts";
import { RealtimeEntrypoint } from "../../../workers/embedded/realtime-entrypoint.ts";
import { RealtimeError } from "../../../workers/embedded/realtime-error.ts";
import { realtimeService } from "../../../workers/embedded/realtime-service.ts";
import { BackendEntrypoint } from "../../../workers/platform/backend-entrypoint.ts";
import type { ApiRequests, ApiResults } from "../../../workers/embedded/api-types.ts";
import type {
  BatchCommand,
  BatchReply,
  RealtimeService,
} from "../../../workers/embedded/realtime-methods.ts";
import type { Env } from "../../../workers/platform/env.ts";
import { testConfig } from "../support/test-config.ts";
import { keptData, postWith } from "../support/api-request.ts";

/** Its type as another Worker writes it: the platform's own can't have generic methods. */
const className: string = "RealtimeEntrypoint";
const entrypoint: RealtimeService = Reflect.get(exports, className);

/** What another Worker sees of an error: its name and its message. */
async function refusalOf(call: PromiseLike<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return String(error);
  }
  return "it was carried out";
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    return error;
  }
}

/** The class as a binding with these props calls it. */
const calledBy = (props: object, bound: Env) =>
  new RealtimeEntrypoint(Object.assign(createExecutionContext(), { props }), bound);

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
      "RealtimeError: 102: unknown channel: channel.namespaces doesn't have unknown",
    );
    expect(await refusalOf(entrypoint.publish("", 1))).toContain("RealtimeError: 107: bad request");
    expect(await refusalOf(entrypoint.history({ channel: "news", limit: 1.5 }))).toContain("limit");
  });

  it("[OW4] carry out a batch, and say of each command what came of it", async () => {
    const channel = `calls-${crypto.randomUUID()}`;
    const replies = await entrypoint.batch([
      { publish: { channel, data: 1 } },
      { history: { channel: "unknown:a", limit: 1 } },
      { history: { channel, limit: 1 } },
    ]);
    expect(replies).toMatchObject([
      { result: { offset: 1 } },
      { error: { code: 102, message: "unknown channel" } },
      { result: { publications: [{ data: 1 }] } },
    ]);
    expectTypeOf(replies[0]).toEqualTypeOf<BatchReply<"publish">>();
    expectTypeOf(replies[2].result).toEqualTypeOf<ApiResults["history"] | undefined>();
    expectTypeOf(replies).toHaveProperty("length").toEqualTypeOf<3>();
    const none: readonly BatchCommand[] = [];
    expect(await entrypoint.batch(none)).toEqual([]);
    const many = Array.from({ length: 10_001 }, () => ({ info: {} }));
    expect(await refusalOf(entrypoint.batch(many))).toContain("RealtimeError: 107");
  });

  it("[OW4] have the types of the HTTP API's description", () => {
    type Service = RealtimeService;
    expectTypeOf<Service["publish"]>().parameter(0).toBeString();
    expectTypeOf<Service["publish"]>().returns.resolves.toEqualTypeOf<ApiResults["publish"]>();
    expectTypeOf<Service["presence_stats"]>()
      .parameter(0)
      .toEqualTypeOf<ApiRequests["presence_stats"]>();
    // What needs no field may be called without a request.
    expectTypeOf<Service["info"]>().toBeCallableWith();
    expectTypeOf<Parameters<Service["history"]>>().toEqualTypeOf<
      [params: ApiRequests["history"]]
    >();
  });

  it("[OW4] have a method for each command of the table", () => {
    const methods = Object.getOwnPropertyNames(RealtimeEntrypoint.prototype);
    const names = operationNames((row) => row.at !== "events");
    expect(names.filter((name) => !methods.includes(name))).toEqual([]);
  });

  it("[OW10] have no other method, not even an inherited one", () => {
    const commands = operationNames((row) => row.at !== "events");
    const operations = new Set<string>([...commands, "batch", "outcome"]);
    expect(Object.getPrototypeOf(RealtimeEntrypoint.prototype)).toBe(WorkerEntrypoint.prototype);
    const methods = Object.getOwnPropertyNames(RealtimeEntrypoint.prototype);
    const others = methods.filter((name) => name !== "constructor" && !operations.has(name));
    expect(others).toEqual([]);
  });

  it.each([[{ name: "orders" }], [{ name: "mistyped" }], [{ other: 1 }]])(
    "[OW10] with the props %o can't have a backend asked",
    async (props) => {
      const context = Object.assign(createExecutionContext(), { props });
      const question = { target: "rpc.proxy", hook: "rpc", body: "{}", asker: "c" } as const;
      expect(await new BackendEntrypoint(context, env).ask(question)).toEqual({
        outcome: "failed",
        reason: "only the Worker itself asks backends",
      });
    },
  );

  it("[OW5] have the rights of the key with the caller's name, and without one all", async () => {
    const keys = [{ name: "orders", methods: ["publish"], channels: ["room:*"] }];
    const bound = { ...env, config: { ...testConfig, http_api: { keys } } };
    const channel = `room:${crypto.randomUUID()}`;
    const orders = calledBy({ name: "orders" }, bound);
    expect(await orders.publish(channel, 1)).toMatchObject({ offset: 1 });
    for (const refused of [orders.publish("news", 1), orders.history({ channel })])
      expect(await refusalOf(refused)).toMatch(
        /103: permission denied: the API key "orders" of http_api.keys doesn't admit/,
      );
    expect(await calledBy({}, bound).history({ channel })).toMatchObject({ offset: 1 });
  });

  it.each(operationNames((row) => row.at !== "events"))(
    "[OW5] ask the rights of the caller's key: %s",
    async (name) => {
      const channel = `room:${crypto.randomUUID()}`;
      const mistyped = calledBy({ Name: "orders" }, env);
      const params = { channel, channels: [channel], data: 1, key: "k" };
      const given = {
        publish: [channel, 1],
        broadcast: [[channel], 1],
        call: [channel, "bid", 1],
      };
      const method: (...given: readonly unknown[]) => Promise<unknown> = Reflect.get(
        mistyped,
        name,
      );
      const called = Reflect.apply(method, mistyped, Reflect.get(given, name) ?? [params]);
      expect(await refusalOf(called)).toBe(
        `RealtimeError: 103: permission denied: the binding has props other than { name }, and doesn't admit the method ${name}`,
      );
      const command: BatchCommand = JSON.parse(JSON.stringify({ [name]: params }));
      const inBatch = await mistyped.batch([command]);
      expect(inBatch).toMatchObject([{ error: { code: 103 } }]);
      const asValue = await mistyped.outcome(name, params);
      expect(asValue).toMatchObject({ error: { code: 103, isTemporary: false } });
    },
  );

  it("[OW16] have whole errors through realtimeService, and the same results", async () => {
    const channel = `calls-${crypto.randomUUID()}`;
    const realtime = realtimeService(entrypoint);
    expect(await realtime.publish(channel, 1, { tags: { kind: "a" } })).toMatchObject({
      offset: 1,
    });
    expect(await realtime.history({ channel, limit: -1 })).toMatchObject({
      publications: [{ data: 1, tags: { kind: "a" } }],
    });
    const replies = await realtime.batch([{ history: { channel: "unknown:a", limit: 1 } }]);
    expect(replies).toMatchObject([{ error: { code: 102 } }]);
    expectTypeOf(replies[0]).toEqualTypeOf<BatchReply<"history">>();
    const refused = await errorOf(realtime.publish("unknown:channel", 1));
    expect(refused).toBeInstanceOf(RealtimeError);
    expect(refused).toMatchObject({
      message: "102: unknown channel: channel.namespaces doesn't have unknown",
      code: 102,
      detail: "channel.namespaces doesn't have unknown",
      isTemporary: false,
    });
    const many = Array.from({ length: 10_001 }, () => ({ info: {} }));
    expect(await errorOf(realtime.batch(many))).toMatchObject({ code: 107, isTemporary: false });
    expect(await errorOf(realtime.publish(channel, { n: 1n }))).toMatchObject({
      code: 107,
      detail: "a part of the request can't be written as JSON",
    });
    const { CHANNELS: _, ...without } = env;
    const unbound = realtimeService(
      Reflect.construct(RealtimeEntrypoint, [createExecutionContext(), without]),
    );
    expect(await errorOf(unbound.info())).toMatchObject({ code: 100, isTemporary: true });
  });

  it("[OW16] by a name that no command has are refused, and nothing inherited is one", async () => {
    for (const name of [
      "publis",
      "events",
      "rpc",
      "outcome",
      "constructor",
      "__proto__",
      "fetch",
      "",
    ])
      expect(await entrypoint.outcome(name, {})).toMatchObject({ error: { code: 104 } });
    for (const params of ["[]", "null", "7"])
      expect(await entrypoint.outcome("batch", JSON.parse(params))).toMatchObject({
        error: { code: 107 },
      });
  });

  it("[OW16] have a method of realtimeService for each command of the table", () => {
    const names = operationNames((row) => row.at !== "events");
    expect(new Set(Object.keys(realtimeService(entrypoint)))).toEqual(new Set([...names, "batch"]));
    // Without the flag `rpc`, a binding of an old compatibility date has no methods.
    const { BACKEND } = env;
    const old: Fetcher = {
      fetch: (input, init) => BACKEND.fetch(input, init),
      connect: (to) => BACKEND.connect(to),
    };
    expect(() => realtimeService(old)).toThrow("the binding has no methods");
  });

  it("[OW5] [A14] a name without a secret admits nothing over HTTP", async () => {
    const keys = [{ name: "orders", methods: ["*"], channels: ["*"] }];
    const config = { ...testConfig, http_api: { keys } };
    const given = { config, "": "a-guess", _PREVIOUS: "a-guess", API_KEY_PREVIOUS: "" };
    const channel = `room:${crypto.randomUUID()}`;
    for (const key of ["", "a-guess", "orders"]) {
      const headers = { "X-API-Key": key };
      const body = JSON.stringify({ channel, data: 1 });
      expect((await postWith(given, "/api/publish", body, headers)).status).toBe(401);
    }
  });
});
