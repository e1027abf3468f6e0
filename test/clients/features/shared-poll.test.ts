import { createHash, createHmac } from "node:crypto";
import type { SharedPollSubscriptionOptions, SharedPollUpdateContext } from "centrifuge";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { longValue } from "../../support/long-value.ts";
import {
  type HookAnswer,
  type HookRequest,
  HookServer,
} from "../../support/servers/hook-server.ts";
import { Inbox } from "../../support/inbox.ts";
import type { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";
import { type Wire, wires } from "../../support/sockets/wire.ts";

const hookSecret = "hook-signing-secret-of-tests";
const pollSecret = "shared-poll-secret-of-these-tests";

/** The backend's values of each channel, by key, each with a version if the channel has versions. */
const values = new Map<string, Map<string, { data: string; version?: number; removed?: true }>>();
let epoch: string | undefined;

let backend: HookServer;
let server: TestServer;
const clients: SdkClient[] = [];

/** Answers as docs/shared-poll.md shows it: only what is newer than the version of a question. */
function answer({ body }: HookRequest): HookAnswer {
  const all = values.get(String(body["channel"])) ?? new Map();
  const asked: { key: string; version?: number }[] = JSON.parse(JSON.stringify(body["items"]));
  const items = asked.flatMap(({ key, version = 0 }) => {
    const value = all.get(key);
    if (value === undefined || (value.version !== undefined && value.version <= version)) return [];
    return [{ key, ...value }];
  });
  return { result: { items, ...(epoch !== undefined && { epoch }) } };
}

function set(channel: string, key: string, data: string, version?: number): void {
  const all = values.get(channel) ?? new Map();
  values.set(channel, all.set(key, { data, ...(version !== undefined && { version }) }));
}

/** The recipe of docs/shared-poll.md. */
function sign(keys: readonly string[], user: string, channel: string, expireAt = 0): string {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const digest = createHash("sha256").update(keys.join("\0")).digest("hex");
  const text = [issuedAt, expireAt, user, channel, digest].join("\0");
  const hmac = createHmac("sha256", pollSecret).update(text).digest("hex");
  return `${issuedAt}:${expireAt}:${hmac}`;
}

/** A client that tracks keys, with the updates that it gets. */
async function tracking(
  wire: Wire,
  channel: string,
  keys: string[],
  user = "ada",
  more: Partial<SharedPollSubscriptionOptions> = {},
) {
  const client = wire.open(server, channel, { token: signToken({ sub: user }) });
  clients.push(client);
  const subscription = client.client.newSharedPollSubscription(channel, {
    ...more,
    getSignature: (context) =>
      Promise.resolve({ keys: context.keys, signature: sign(context.keys, user, channel) }),
  });
  const updates = new Inbox<{ key: string; data: unknown; version?: number }>();
  const subscribed = new Inbox<object>();
  const errors = new Inbox<object>();
  subscription.on("update", ({ key, data, removed, version }: SharedPollUpdateContext) =>
    updates.push({
      key,
      data: removed === true ? null : wire.decode(data),
      ...(version !== undefined && { version }),
    }),
  );
  subscription.on("subscribed", (context) => subscribed.push(context));
  subscription.on("error", (context) => errors.push(context));
  subscription.subscribe();
  await subscribed.count(1);
  subscription.track(keys);
  return { client, subscription, updates, subscribed, errors };
}

beforeAll(async () => {
  backend = await HookServer.start(hookSecret, answer);
  const options = { allow_subscribe_for_client: true, subscription_type: "shared_poll" };
  server = await TestServer.start({
    secrets: {
      ...testSecrets,
      HOOK_SIGNING_SECRET: hookSecret,
      SHARED_POLL_HMAC_SECRET_KEY: pollSecret,
    },
    config: {
      channel: {
        proxy: { shared_poll_refresh: { endpoint: backend.url("poll"), timeout: "20s" } },
        namespaces: [
          {
            name: "prices",
            ...options,
            allowed_delta_types: ["fossil"],
            shared_poll: { refresh_interval: "200ms" },
          },
          {
            name: "votes",
            ...options,
            shared_poll: { refresh_interval: "200ms", mode: "versioned", publish_enabled: true },
          },
        ],
      },
    },
  });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  epoch = undefined;
});
afterAll(async () => {
  await server.close();
  await backend.close();
});

const chosen = wires.filter(({ transport }) => transport === "websocket");

describe.each(chosen)("a shared poll, by $name", (wire) => {
  it("[SP2][SP3][SP6] clients get what changes of the keys that they track, and of no others", async () => {
    const channel = `prices:${wire.name}`;
    set(channel, "a", "1");
    set(channel, "b", "1");
    const first = await tracking(wire, channel, ["a", "b"]);
    expect((await first.updates.count(2)).map(({ key, data }) => [key, data])).toEqual(
      expect.arrayContaining([
        ["a", "1"],
        ["b", "1"],
      ]),
    );
    // A client that comes later gets the present values, and the backend's next answers.
    const second = await tracking(wire, channel, ["b"], "bob");
    expect(await second.updates.next()).toMatchObject({ key: "b", data: "1" });
    set(channel, "a", "2");
    expect((await first.updates.count(3))[2]).toMatchObject({ key: "a", data: "2" });
    first.subscription.untrack(["a"]);
    set(channel, "a", "3");
    set(channel, "b", "2");
    expect(await second.updates.next()).toMatchObject({ key: "b", data: "2" });
    expect((await first.updates.count(4))[3]).toMatchObject({ key: "b", data: "2" });
    values.get(channel)?.set("b", { data: "", removed: true });
    expect(await second.updates.next()).toMatchObject({ key: "b", data: null });
    expect((await first.updates.count(5))[4]).toMatchObject({ key: "b", data: null });
    expect(second.subscription.trackedKeys().size).toBe(0);
    expect([...first.errors.all, ...second.errors.all]).toEqual([]);
    expect(backend.unsigned).toBe(0);
  });

  it("[SP13] a client that asks for deltas gets them, of what it was sent last of each key", async () => {
    const channel = `prices:deltas-${wire.name}`;
    const deltas = { delta: "fossil" } as const;
    set(channel, "a", longValue(1));
    set(channel, "b", longValue(11));
    const one = await tracking(wire, channel, ["a", "b"], "ada", deltas);
    await one.updates.count(2);
    set(channel, "a", longValue(2));
    expect((await one.updates.count(3))[2]).toMatchObject({ key: "a", data: longValue(2) });
    expect(one.subscription.deltaStats()).toMatchObject({
      numFullPayloads: 2,
      numDeltaPayloads: 1,
    });
    // Whoever comes later gets the value in the reply, and the next one as a delta of it; so does one who comes back.
    const late = await tracking(wire, channel, ["a"], "bob", deltas);
    expect(await late.updates.next()).toMatchObject({ data: longValue(2) });
    set(channel, "a", longValue(3));
    expect(await late.updates.next()).toMatchObject({ data: longValue(3) });
    late.subscription.untrack(["a"]);
    late.subscription.track(["a"]);
    expect(await late.updates.next()).toMatchObject({ data: longValue(3) });
    set(channel, "a", longValue(4));
    set(channel, "b", longValue(12));
    expect(await late.updates.next()).toMatchObject({ data: longValue(4) });
    const all = (await one.updates.count(6)).map(({ key, data }) => [key, data]);
    expect(all.slice(3)).toEqual(
      expect.arrayContaining([
        ["a", longValue(3)],
        ["a", longValue(4)],
        ["b", longValue(12)],
      ]),
    );
    const stats = [one, late].map(({ subscription }) => subscription.deltaStats());
    expect(stats).toMatchObject([
      { numFullPayloads: 2, numDeltaPayloads: 4 },
      { numFullPayloads: 2, numDeltaPayloads: 2 },
    ]);
    expect([...one.errors.all, ...late.errors.all]).toEqual([]);
    expect([one.client.reconnects, late.client.reconnects]).toEqual([0, 0]);
  });
});

describe.each(chosen.filter(({ rule }) => rule === "W1"))("versions, by $name", (wire) => {
  it("[SP2][SP11] a published value comes at once, and no older one after it", async () => {
    const channel = `votes:${wire.name}`;
    set(channel, "a", "1", 1);
    const one = await tracking(wire, channel, ["a"]);
    expect(await one.updates.next()).toEqual({ key: "a", data: "1", version: 1 });
    await server.backend.sharedPollPublish(channel, { key: "a", data: "5", version: 5 });
    expect(await one.updates.next()).toEqual({ key: "a", data: "5", version: 5 });
    set(channel, "a", "4", 4);
    await backend.requests.count(backend.requests.all.length + 2);
    set(channel, "a", "6", 6);
    expect(await one.updates.next()).toEqual({ key: "a", data: "6", version: 6 });
    expect(one.subscribed.all).toHaveLength(1);
  });

  it("[SP8] another epoch makes clients subscribe anew, and get all values again", async () => {
    const channel = `votes:epoch-${wire.name}`;
    epoch = "one";
    set(channel, "a", "1", 7);
    const one = await tracking(wire, channel, ["a"]);
    expect(await one.updates.next()).toEqual({ key: "a", data: "1", version: 7 });
    epoch = "two";
    set(channel, "a", "2", 1);
    await server.backend.sharedPollPublish(channel, {
      key: "a",
      data: "2",
      version: 1,
      epoch: "two",
    });
    expect(await one.updates.next()).toEqual({ key: "a", data: "2", version: 1 });
  });
});

const gateways = chosen.filter(({ endpoint, rule }) => endpoint === "gateway" && rule === "W1");

it.each(gateways)(
  "[SP8] [SP20][SP13] an evicted gateway knows what its clients track, and sends the next values in full, by $name",
  async (wire) => {
    const channel = `prices:evicted-${wire.name}`;
    set(channel, "a", longValue(1));
    const one = await tracking(wire, channel, ["a"], "ada", { delta: "fossil" });
    expect(await one.updates.next()).toMatchObject({ data: longValue(1) });
    await server.evictGateway("na/0");
    // The gateway doesn't know whether the client ignores the first value, and makes no delta of it.
    for (const value of [2, 3, 4]) {
      set(channel, "a", longValue(value));
      expect(await one.updates.next()).toMatchObject({ data: longValue(value) });
    }
    const { numFullPayloads, numDeltaPayloads } = one.subscription.deltaStats();
    expect([numFullPayloads, numDeltaPayloads]).toEqual([3, 1]);
    expect(one.subscribed.all).toHaveLength(1);
    expect(one.client.reconnects).toBe(0);
  },
);
