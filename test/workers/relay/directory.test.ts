import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { shardOf } from "../../../src/contract/object-names.ts";
import { columnText } from "../../../src/sql.ts";
import { version } from "../../../src/version.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { call } from "../support/api-request.ts";
import { attachmentsOf, hibernate } from "../support/attachments.ts";
import { loseCalls } from "../support/lose-calls.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake } from "../support/object-state.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { awakeVariants, Variant, variants } from "../support/variant.ts";
import { patience } from "../../support/patience.ts";

const newUser = () => `user-${crypto.randomUUID()}`;

interface Result {
  readonly channels: Record<string, { readonly num_clients: number }>;
  readonly cursor?: string;
  readonly incomplete?: boolean;
}

/** What the API says of the channels whose names match. */
async function channels(request: object): Promise<Result> {
  const { body } = await call("channels", request);
  const { result }: { result?: Result } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

interface Node {
  readonly uid: string;
  readonly num_clients: number;
}

interface Info {
  readonly nodes: readonly Node[];
  readonly cursor?: string;
  readonly incomplete?: boolean;
}

async function info(request: object = {}): Promise<Info> {
  const { body } = await call("info", request);
  const { result }: { result?: Info } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

/** The node of the object that holds a variant's sockets. */
function nodeOf({ place }: Variant, channel: string): string {
  const { name = "" } = place.holder(channel);
  return place === channelPlace ? `channel:${name}` : `gateway:${name}`;
}

/** Whether the directory lists an object. */
function isListed(node: string): Promise<boolean> {
  const shard = env.USERS.getByName(shardOf(node));
  return runInDurableObject<UsersObject, boolean>(shard, ({ sql }) => {
    const [table] = sql.rows("SELECT name FROM sqlite_master WHERE name = 'listed'");
    if (table === undefined) return false;
    const rows = sql.rows("SELECT kind || ':' || name AS node FROM listed");
    return rows.some((row) => columnText(row, "node") === node);
  });
}

async function listed(node: string): Promise<void> {
  await vi.waitFor(async () => expect(await isListed(node)).toBe(true), patience);
}

// The first test: no object of this file's Worker is listed yet.
it("[U23] info has the edge as its only node while nobody is connected", async () => {
  const { nodes } = await info();
  expect(nodes).toStrictEqual([
    {
      uid: "edge",
      name: "edge",
      version,
      num_clients: 0,
      num_users: 0,
      num_channels: 0,
      num_subs: 0,
      uptime: 0,
    },
  ]);
  expect((await info({ cursor: "a" })).nodes).toStrictEqual([]);
});

describe.each(variants)("the directory and $name", (variant) => {
  const pause = async (channel: string): Promise<void> => {
    await variant.betweenSteps(channel);
    if (!variant.name.endsWith("evicted")) return;
    // Only a running object can be evicted.
    await isListed(nodeOf(variant, channel));
    await hibernate(env.USERS.getByName(shardOf(nodeOf(variant, channel))));
  };

  it("[U24] counts the subscribers of channels that match", async () => {
    const channel = newChannel("room");
    const one = await variant.subscribe(channel, newUser());
    await variant.subscribe(channel, newUser());
    await variant.connect(channel, newUser());
    await listed(nodeOf(variant, channel));
    await pause(channel);
    const found = { channels: { [channel]: { num_clients: 2 } } };
    expect(await channels({ pattern: channel })).toStrictEqual(found);
    await pause(channel);
    expect(await channels({ pattern: `${channel.slice(0, -1)}?` })).toStrictEqual(found);
    expect(await channels({ pattern: `${channel}x` })).toStrictEqual({ channels: {} });
    await one.unread();
    await one.ask({ id: 3, unsubscribe: { channel } });
    await pause(channel);
    expect((await channels({ pattern: channel })).channels).toStrictEqual({
      [channel]: { num_clients: 1 },
    });
  });

  it("[U40] forgets an object without connections when it is asked, and lists it again", async () => {
    const channel = newChannel("room");
    const node = nodeOf(variant, channel);
    const socket = await variant.subscribe(channel, newUser());
    await listed(node);
    await pause(channel);
    socket.close();
    await socket.closed;
    await pause(channel);
    expect(await isListed(node)).toBe(true);
    expect(await channels({ pattern: channel })).toStrictEqual({ channels: {} });
    expect(await isListed(node)).toBe(false);
    await variant.subscribe(channel, newUser());
    await listed(node);
    await pause(channel);
    expect((await channels({ pattern: channel })).channels).toHaveProperty([channel]);
  });
});

describe.each(awakeVariants)("the directory and $place.name", (variant) => {
  it("[U22] lists an object for one call and one row, also through hibernation", async () => {
    const channel = newChannel("room");
    const node = nodeOf(variant, channel);
    const shard = env.USERS.getByName(shardOf(node));
    const counts = () =>
      runInDurableObject<UsersObject, { readonly written: number; readonly rows: number }>(
        shard,
        ({ sql }) => ({
          written: sql.rowsWritten,
          rows: sql.rows("SELECT 1 FROM listed").length,
        }),
      );
    // The first row of a shard comes with its table.
    await shard.list("gateway:another/0");
    const before = await counts();
    const list = vi.spyOn(env.USERS, "getByName");
    const lists = () => list.mock.calls.filter(([name]) => name === shardOf(node)).length;
    await variant.connect(channel, newUser());
    await listed(node);
    const called = lists();
    await variant.connect(channel, newUser());
    await hibernate(variant.place.holder(channel));
    await variant.connect(channel, newUser());
    const [first, second, third] = await attachmentsOf(variant.place.holder(channel));
    expect([first?.listed, second?.listed, third?.listed]).toStrictEqual([true, true, true]);
    expect(lists() - called).toBe(0);
    list.mockRestore();
    const after = await counts();
    // Each new channel has others checked, of which some may be forgotten.
    const forgotten = before.rows + 1 - after.rows;
    expect(after.written - before.written).toBe(1 + forgotten);
    expect(forgotten).toBeLessThanOrEqual(variant.place === channelPlace ? 2 : 0);
  });

  it("[U22] lists an object with connections of the release before, when it wakes", async () => {
    const channel = newChannel("room");
    const node = nodeOf(variant, channel);
    const socket = await variant.subscribe(channel, newUser());
    await listed(node);
    const shard = env.USERS.getByName(shardOf(node));
    await runInDurableObject<UsersObject, void>(shard, ({ sql }) => sql.run("DELETE FROM listed"));
    const holder = variant.place.holder(channel);
    await runInDurableObject<DurableObject, void>(holder, (_, state) => {
      for (const one of state.getWebSockets())
        one.serializeAttachment({ ...one.deserializeAttachment(), listed: undefined });
    });
    await hibernate(holder);
    await socket.unread();
    await listed(node);
    const [saved] = await attachmentsOf(holder);
    expect(saved?.listed).toBe(true);
  });
});

describe("a channel with subscribers in several objects", () => {
  it("[U24] [U23] is counted as far as its objects answer", async () => {
    const channel = newChannel("room");
    const [own, gateway] = [channelPlace, gatewayPlace()].map((place) => new Variant(place, awake));
    if (own === undefined || gateway === undefined) throw new Error("a place is missing");
    await own.subscribe(channel, newUser());
    await gateway.subscribe(channel, newUser());
    await listed(nodeOf(own, channel));
    await listed(nodeOf(gateway, channel));
    const findAgain = loseCalls("channels", "info");
    expect(await channels({ pattern: channel })).toStrictEqual({
      channels: { [channel]: { num_clients: 1 } },
      incomplete: true,
    });
    expect((await info()).incomplete).toBe(true);
    findAgain();
    expect((await channels({ pattern: channel })).channels[channel]?.num_clients).toBe(2);
    expect((await info()).incomplete).toBeUndefined();
  });
});

describe("a channel's own object that is listed", () => {
  it("[U40] has the directory ask others, and forget those without connections", async () => {
    // Channels of one shard.
    const names: string[] = [];
    while (names.length < 6) {
      const name = newChannel("room");
      if (shardOf(`channel:${name}`) === "directory/0") names.push(name);
    }
    const [last = "", ...others] = names;
    const shard = env.USERS.getByName("directory/0");
    // Nobody is connected to these.
    for (const name of others) await shard.list(`channel:${name}`);
    await new Variant(channelPlace, awake).connect(last, newUser());
    await vi.waitFor(async () => {
      const left = await Promise.all(others.map((name) => isListed(`channel:${name}`)));
      expect(left).toContain(false);
    }, patience);
    await listed(`channel:${last}`);
  });
});

describe("info", () => {
  it("[U23] has the gateways that hold connections, with what they hold", async () => {
    const channel = newChannel("room");
    const variant = new Variant(gatewayPlace(), awake);
    const user = newUser();
    await variant.subscribe(channel, user);
    const two = await variant.subscribe(channel, user);
    await two.unread();
    await two.ask({ id: 3, subscribe: { channel: newChannel("room") } });
    await variant.connect(channel, newUser());
    const uid = nodeOf(variant, channel);
    await listed(uid);
    const { nodes } = await info();
    expect(nodes.find((node) => node.uid === uid)).toStrictEqual({
      uid,
      name: `${channel}/0`,
      version,
      num_clients: 3,
      num_users: 2,
      num_channels: 2,
      num_subs: 3,
      uptime: expect.any(Number),
      region: channel,
    });
    const first = await info({ limit: 1 });
    expect(first.nodes.length).toBeLessThanOrEqual(1);
    const paged: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const page: Info = await info({ limit: 2, cursor });
      paged.push(...page.nodes.map((node) => node.uid));
      ({ cursor } = page);
    }
    expect(paged).toStrictEqual((await info()).nodes.map((node) => node.uid));
  });
});
