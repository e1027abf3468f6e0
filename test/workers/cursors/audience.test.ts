import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { cursorLimits } from "../../../src/features/cursors/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { awake, evicted } from "../support/object-state.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { patience } from "../../support/patience.ts";
import { gatewayVariants, type Variant, variants } from "../support/variant.ts";

const kept = { history_size: 10, history_ttl: "5m", allow_subscribe_for_client: true };
const cursors = { enabled: true, unread_from: "subscribed" };
configure({
  ...testConfig,
  events: { target: "queue:EVENTS", types: ["unseen"], namespaces: ["told"] },
  channel: {
    ...testConfig.channel,
    namespaces: [
      ...testConfig.channel.namespaces,
      { name: "named", ...kept, cursors: { ...cursors, audience: "named" } },
      { name: "open", ...kept, cursors: { ...cursors, audience: "subscribed" } },
      { name: "bare", ...kept, cursors },
      { name: "told", ...kept, cursors: { ...cursors, audience: "named", notify_after: "30s" } },
    ],
  },
});

interface Answered {
  readonly members?: number;
  readonly users?: readonly string[];
  readonly cursor?: string;
}

async function resultOf(method: string, request: object): Promise<Answered> {
  const { body } = await call(method, request);
  const { result }: { result?: Answered } = JSON.parse(body);
  if (result === undefined) throw new Error(`${method}: ${body}`);
  return result;
}

const usersOf = async (channel: string) => (await resultOf("audience", { channel })).users;
const change = (method: string, channel: string, users: readonly string[]) =>
  resultOf(`${method}_audience`, { channel, users });
const bodyOf = async (method: string, request: object) => (await call(method, request)).body;

async function unread(user: string, channel: string): Promise<object | undefined> {
  const { body } = await call("unread", { user, channels: [channel] });
  const { result }: { result?: { channels?: Record<string, object> } } = JSON.parse(body);
  return result?.channels?.[channel];
}

/** The rows of the audience, as they lie in storage. */
const rows = (channel: string) =>
  runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage: { sql } }) => {
    const has = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'audience_member'").toArray();
    return has.length === 0 ? [] : sql.exec("SELECT * FROM audience_member").toArray();
  });

/** Subscribes, and waits until the channel's object has heard of it: a gateway's calls come in order. */
async function subscribed(variant: Variant, channel: string, user: string): Promise<TestSocket> {
  const socket = await variant.subscribe(channel, user);
  socket.send({ id: 9, rpc: { method: "dormouse.unread", data: { channels: [channel] } } });
  await socket.lineWith('"id":9');
  return socket;
}

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `u${String(from + index).padStart(6, "0")}`);

describe.each(variants)("an audience of those who subscribe, on $name", (variant) => {
  it("[CU22] [CU20] [CU8] has each user once, from the first subscription on", async () => {
    const channel = newChannel("open");
    await publish(channel, 1);
    const socket = await subscribed(variant, channel, "ann");
    await publish(channel, 2);
    await variant.betweenSteps(channel);
    const [before] = await rows(channel);
    expect(before).toMatchObject({ user: "ann", since: 1 });
    socket.close();
    await subscribed(variant, channel, "ann");
    await subscribed(variant, channel, "bob");
    await variant.betweenSteps(channel);
    expect(await usersOf(channel)).toEqual(["ann", "bob"]);
    expect((await rows(channel))[0]).toEqual(before);
    expect(await unread("ann", channel)).toMatchObject({ unread: 1, read: 1 });
    expect(await unread("bob", channel)).toMatchObject({ unread: 0, read: 2 });
  });

  it("[CU22] [CU21] doesn't have anonymous users, and a user who was removed comes back", async () => {
    const channel = newChannel("open");
    await subscribed(variant, channel, "");
    const socket = await subscribed(variant, channel, "ann");
    await variant.betweenSteps(channel);
    expect(await change("remove", channel, ["ann", "eve"])).toEqual({ members: 0 });
    expect(await usersOf(channel)).toEqual([]);
    socket.close();
    await subscribed(variant, channel, "ann");
    await variant.betweenSteps(channel);
    expect(await usersOf(channel)).toEqual(["ann"]);
  });

  it("[CU29] has those whom a subscription token names, and where there is none they have no effect", async () => {
    const members = ["eve", "ann", "eve"];
    for (const [channel, expected] of [
      [newChannel("named"), ["ann", "eve"]],
      [newChannel("open"), ["ann", "bob", "eve"]],
      [newChannel("bare"), []],
    ] as const) {
      await publish(channel, 1);
      const socket = await variant.connect(channel, "bob");
      const signed = await token({ sub: "bob", channel, members });
      await socket.ask({ id: 2, subscribe: { channel, token: signed } });
      socket.send({ id: 9, rpc: { method: "dormouse.unread", data: { channels: [channel] } } });
      await socket.lineWith('"id":9');
      await variant.betweenSteps(channel);
      const found = await rows(channel);
      expect(found.map(({ user, since }) => [user, since])).toEqual(
        expected.map((user) => [user, 1]),
      );
    }
  });

  it("[CU22] has nobody where a backend names the members", async () => {
    const channel = newChannel("named");
    await subscribed(variant, channel, "ann");
    await variant.betweenSteps(channel);
    expect(await rows(channel)).toEqual([]);
  });
});

describe.each(gatewayVariants.slice(0, 2))("an audience, on $name", (variant) => {
  it("[CU29] has those whom a connection token names for a channel", async () => {
    const channel = newChannel("named");
    const subs = { [channel]: { members: ["eve"] } };
    const socket = await variant.connect(channel, "bob", { subs });
    await socket.unread();
    await variant.betweenSteps(channel);
    expect(await usersOf(channel)).toEqual(["eve"]);
  });
});

describe("an audience that a backend names", () => {
  it("[CU21] [CU20] is added to, removed from and set, and those who stay are members since they were", async () => {
    const channel = newChannel("named");
    expect(await change("add", channel, ["bob", "ann", "bob"])).toEqual({ members: 2 });
    await publish(channel, 1);
    expect(await change("set", channel, ["ann", "eve"])).toEqual({ members: 2 });
    expect(await usersOf(channel)).toEqual(["ann", "eve"]);
    expect(await rows(channel)).toMatchObject([{ since: 0 }, { since: 1 }]);
    expect(await unread("ann", channel)).toMatchObject({ unread: 1 });
    expect(await change("remove", channel, ["ann"])).toEqual({ members: 1 });
    expect(await change("set", channel, [])).toEqual({ members: 0 });
    expect(await resultOf("audience", { channel })).toEqual({ users: [], members: 0 });
  });

  it("[CU21] [H13] is kept anew after its storage was deleted, also by the same instance", async () => {
    const channel = newChannel("told");
    const object = env.CHANNELS.getByName(channel);
    const tables = () =>
      runInDurableObject(object, (_, { storage: { sql } }) =>
        sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'audience%'").toArray(),
      );
    await change("add", channel, ["ann"]);
    await awake.betweenSteps([object]);
    await change("remove", channel, ["ann"]);
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(object);
      expect(await tables()).toEqual([]);
    }, patience);
    expect(await change("add", channel, ["ann", "bob"])).toEqual({ members: 2 });
    await awake.betweenSteps([object]);
    expect(await usersOf(channel)).toEqual(["ann", "bob"]);
    await publish(channel, 1);
    expect(await unread("ann", channel)).toMatchObject({ unread: 1 });
  });

  it("[CU21] is listed in pages", async () => {
    const channel = newChannel("named");
    await change("add", channel, ["c", "a", "b"]);
    const first = await resultOf("audience", { channel, limit: 2 });
    expect(first).toEqual({ users: ["a", "b"], members: 3, cursor: "b" });
    expect(await resultOf("audience", { channel, limit: 2, cursor: "b" })).toEqual({
      users: ["c"],
      members: 3,
    });
    expect(await resultOf("audience", { channel, limit: 3 })).not.toHaveProperty("cursor");
  });

  it("[CU21] is set anew when thousands leave, and those who stay are members since they were", async () => {
    const channel = newChannel("named");
    for (let from = 0; from < 3_000; from += 1_000)
      await change("add", channel, numbered(1_000, from));
    await publish(channel, 1);
    expect(await change("set", channel, ["u000007", "eve"])).toEqual({ members: 2 });
    expect(await rows(channel)).toMatchObject([
      { user: "eve", since: 1 },
      { user: "u000007", since: 0 },
    ]);
    await change("add", channel, numbered(900));
    expect(await change("set", channel, ["u000008"])).toEqual({ members: 1 });
    expect(await usersOf(channel)).toEqual(["u000008"]);
  });

  it("[CU20] [CU21] has a bound, beyond which nobody is added and nobody enters by subscribing", async () => {
    const channel = newChannel("open");
    await change("add", channel, ["ann"]);
    const object = env.CHANNELS.getByName(channel);
    await runInDurableObject(object, (_, { storage: { sql } }) => {
      sql.exec(
        `INSERT INTO audience_member WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
          WHERE i < ?) SELECT 'n' || i, 0, '', 0, NULL, NULL FROM n`,
        cursorLimits.membersMax - 3,
      );
    });
    await evicted.betweenSteps([object]);
    expect(await bodyOf("add_audience", { channel, users: ["a", "b", "c"] })).toContain("106");
    const full = { members: cursorLimits.membersMax };
    expect(await change("add", channel, ["a", "b"])).toEqual(full);
    for (const variant of variants) await subscribed(variant, channel, "eve");
    expect(await change("add", channel, ["ann"])).toEqual(full);
    expect(await change("set", channel, ["ann"])).toEqual({ members: 1 });
  });

  it("[CU21] [CU9] refuses what can't be, and channels without an audience", async () => {
    const channel = newChannel("named");
    const many = numbered(cursorLimits.audienceUsersMax + 1);
    for (const users of [undefined, many, [""], ["\ud800"], ["u".repeat(20_000)]])
      for (const method of ["set_audience", "add_audience", "remove_audience"])
        expect(await bodyOf(method, { channel, users })).toContain('"code":107');
    expect(await bodyOf("add_audience", { channel, users: [] })).toContain('"code":107');
    expect(await bodyOf("audience", { channel, limit: 1_001 })).toContain('"code":107');
    expect(await bodyOf("audience", { channel, cursor: "\ud800" })).toContain('"code":107');
    for (const without of [newChannel("bare"), newChannel("room")]) {
      expect(await bodyOf("add_audience", { channel: without, users: ["ann"] })).toContain("108");
      expect(await bodyOf("audience", { channel: without })).toContain('"code":108');
      expect(await rows(without)).toEqual([]);
    }
    expect(await rows(channel)).toEqual([]);
  });

  it("[CU21] changes in a batch, in their order", async () => {
    const channel = newChannel("named");
    const commands = [
      { add_audience: { channel, users: ["ann", "bob"] } },
      { remove_audience: { channel, users: ["ann"] } },
      { audience: { channel } },
    ];
    expect(await bodyOf("batch", { commands })).toContain(
      '{"add_audience":{"members":2}},{"remove_audience":{"members":1}},{"audience":{"users":["bob"],"members":1}}',
    );
  });
});
