import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { awake } from "../support/object-state.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { Variant, variants } from "../support/variant.ts";
import { patience } from "../../support/patience.ts";

const keyTtlMs = 60_000;
const map = { mode: "ephemeral", key_ttl: "60s", min_page_size: 1 };
configure({
  ...testConfig,
  channel: {
    namespaces: [
      {
        name: "chat",
        allow_subscribe_for_client: true,
        allow_subscribe_for_anonymous: true,
        map_clients_presence_channel_prefix: "clients:",
        map_users_presence_channel_prefix: "users:",
      },
      { name: "clients", subscription_type: "map_clients", map, allow_subscribe_for_client: true },
      { name: "users", subscription_type: "map_users", map, allow_subscribe_for_client: true },
    ],
  },
});

const types = { clients: 2, users: 3 } as const;

/** A subscribe to a presence map, as the SDK sends it. */
function ask(id: number, channel: string, fields: object = {}) {
  const type = channel.startsWith("clients:") ? types.clients : types.users;
  return { id, subscribe: { channel, type, phase: 2, flag: 1, ...fields } };
}

/** The entries of a reply to such a subscribe, by key. */
async function watch(socket: TestSocket, channel: string, id = 2): Promise<Map<string, object>> {
  socket.send(ask(id, channel));
  const line = await socket.line();
  const { subscribe }: { subscribe?: { type: number; state?: { key: string; info?: object }[] } } =
    JSON.parse(line);
  if (subscribe === undefined) throw new Error(line);
  return new Map((subscribe.state ?? []).map(({ key, ...rest }) => [key, rest]));
}

/** A client that looks at a map, and the keys that it was sent at first. */
async function watcher(variant: Variant, channel: string) {
  const socket = await variant.connect(channel, "watcher");
  return { socket, keys: await watch(socket, channel) };
}

// Timers run by the real clock, and an eviction waits for them.
Object.assign(mapLimits, { mapRestMs: 200 });

const infoOf = ({ client }: TestSocket, user: string) => ({ info: { user, client } });

/** The push of a change, byte for byte. */
const shown = (channel: string, { client }: TestSocket, user: string) =>
  `{"push":{"channel":"${channel}","pub":{"info":{"user":"${user}","client":"${client}"},"key":"${client}"}}}`;
const removed = (channel: string, key: string) =>
  `{"push":{"channel":"${channel}","pub":{"key":"${key}","removed":true}}}`;

/** The next line that isn't a ping. */
async function pushLine(socket: TestSocket): Promise<string> {
  for (;;) {
    const line = await socket.line();
    if (line !== "{}") return line;
    socket.send({});
  }
}

const realStub = env.CHANNELS.getByName.bind(env.CHANNELS);

/** The platform's own stub, which its functions for tests need. */
const stubOf = (channel: string) => realStub(channel);

/** The calls between the objects of channels and maps: counts them, or has the platform lose them. */
class Calls {
  told = 0;
  #isLost = false;

  constructor() {
    env.CHANNELS.getByName = (name, options) => {
      const stub = realStub(name, options);
      return new Proxy(stub, {
        get: (target, property) => {
          if (property === "fetch") return target.fetch.bind(target);
          if (property !== "present" && property !== "presenceTold")
            return Reflect.get(target, property);
          if (property === "presenceTold") this.told++;
          return this.#isLost ? lostCall : Reflect.get(target, property);
        },
      });
    };
  }

  lose(isLost: boolean): void {
    this.#isLost = isLost;
  }

  end(): void {
    env.CHANNELS.getByName = realStub;
  }
}

describe.each(variants)("a presence map, on $name", (variant) => {
  const isAwake = !variant.name.includes("evicted");

  it("[Z21] [Z22] [Z27] has the clients that are there, and is told who comes and goes in whatever way", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const ada = await variant.subscribe(channel, "ada");
    await variant.betweenSteps(channel);
    const { socket, keys } = await watcher(variant, name);
    expect(keys).toStrictEqual(new Map([[ada.client, infoOf(ada, "ada")]]));
    for (const how of ["goes", ...(isAwake ? ["unsubscribes", "is unsubscribed"] : [])]) {
      await variant.betweenSteps(channel);
      const bob = await variant.subscribe(channel, "bob");
      expect(await pushLine(socket)).toBe(shown(name, bob, "bob"));
      await variant.betweenSteps(channel);
      await variant.betweenSteps(name);
      if (how === "goes") bob.close();
      else if (how === "unsubscribes") bob.send({ id: 4, unsubscribe: { channel } });
      else await call("unsubscribe", { channel, user: "bob" });
      expect(await pushLine(socket)).toBe(removed(name, bob.client));
    }
    const late = await watcher(variant, name);
    expect(late.keys).toStrictEqual(new Map([[ada.client, infoOf(ada, "ada")]]));
    await variant.betweenSteps(channel);
    ada.close();
    for (const each of [socket, late.socket])
      expect(await pushLine(each)).toBe(removed(name, ada.client));
  });
});

const alarmOf = (channel: string) =>
  runInDurableObject(stubOf(channel), (_, { storage }) => storage.getAlarm());

/** Lets time pass until the alarm of a map is due, and has it ring. */
async function ring(channel: string): Promise<void> {
  vi.setSystemTime(Math.max((await alarmOf(channel)) ?? 0, Date.now()));
  expect(await runDurableObjectAlarm(stubOf(channel))).toBe(true);
}

/** Waits until an ephemeral map is written down, as its timer does when it is quiet. */
async function rested(channel: string): Promise<void> {
  vi.setSystemTime(Date.now() + mapLimits.mapRestMs);
  // Any event sets the timer by the test's clock.
  await call("map_stats", { channel });
  const parts = () =>
    runInDurableObject(stubOf(channel), (_, { storage }) => [
      ...storage.sql.exec("SELECT parts FROM map_checkpoint WHERE part = 0 AND parts > 0"),
    ]);
  await vi.waitFor(async () => expect(await parts()).toHaveLength(1), { timeout: 20_000 });
}

/** What a backend is told of how many there are. */
async function countIn(channel: string): Promise<string> {
  return (await call("map_stats", { channel })).body;
}

describe("a presence map", () => {
  const own = new Variant(channelPlace, awake);
  const near = new Variant(gatewayPlace(0), awake);
  const far = new Variant(gatewayPlace(1), awake);
  let calls: Calls;

  beforeEach(async () => {
    await beginAnswerClock(stubOf("clock"));
    calls = new Calls();
  });
  afterEach(() => {
    calls.end();
    endAnswerClock();
  });

  it("[Z21] shows the clients of all objects to a backend, which can't change them", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const all = [await own.subscribe(channel, "ada")];
    for (const variant of [near, far]) all.push(await variant.subscribe(channel, "bob"));
    const read = await call("map_read_state", { channel: name, limit: -1 });
    const { result }: { result: { entries: { key: string }[] } } = JSON.parse(read.body);
    const clients = all.map(({ client }) => client).toSorted();
    expect(result.entries.map(({ key }) => key)).toStrictEqual(clients);
    expect(await countIn(name)).toBe('{"result":{"num_keys":3}}');
    expect(await countIn(`users:${channel}`)).toBe('{"result":{"num_keys":2}}');
    // There is no such channel with presence maps.
    expect(await countIn(`clients:${newChannel("")}`)).toBe('{"result":{"num_keys":0}}');
    const info = { user: "eve", client: "other" };
    const told = { source: newChannel("chat"), changes: [{ type: "here", info }] } as const;
    expect(await stubOf(name).presenceTold(told)).toEqual({ outcome: "left" });
    expect(await countIn(name)).toBe('{"result":{"num_keys":3}}');
    for (const [method, fields] of [
      ["map_publish", { key: "a", data: 1 }],
      ["map_remove", { key: "a" }],
      ["map_clear", {}],
      ["publish", { data: 1 }],
    ] as const)
      expect((await call(method, { channel: name, ...fields })).body).toContain('"code":107');
  });

  it("[Z22] loses the clients of a gateway that crashed within key_ttl, and only those", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const ada = await near.subscribe(channel, "ada");
    const bob = await far.subscribe(channel, "bob");
    const { socket, keys } = await watcher(own, name);
    expect(new Set(keys.keys())).toStrictEqual(new Set([ada.client, bob.client]));
    const startMs = Date.now();
    await evictDurableObject(near.place.holder(channel), { webSockets: "close" });
    await ada.closed;
    for (;;) {
      await ring(name);
      // The alarm rings for pings, too.
      const lines = await socket.unread();
      if (lines.includes(removed(name, ada.client))) break;
      expect(Date.now() - startMs).toBeLessThanOrEqual(keyTtlMs);
      socket.send({});
    }
    expect(Date.now() - startMs).toBeLessThanOrEqual(keyTtlMs);
    const left = new Map([[bob.client, infoOf(bob, "bob")]]);
    expect((await watcher(near, name)).keys).toStrictEqual(left);
  });

  it("[Z22] [Z27] has what it wasn't told after the next census, and everybody after a crash", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const { socket } = await watcher(near, name);
    calls.lose(true);
    const ada = await own.subscribe(channel, "ada");
    await vi.waitFor(() => expect(calls.told).toBeGreaterThan(0), patience);
    calls.lose(false);
    await ring(name);
    expect(await pushLine(socket)).toBe(shown(name, ada, "ada"));
    await crashObject(stubOf(name));
    const bob = await own.subscribe(channel, "bob");
    // Its subscribers have to begin anew, and find everybody.
    expect(await pushLine(socket)).toContain('"unsubscribe":{"code":2500');
    expect(await watch(socket, name, 7)).toStrictEqual(
      new Map([
        [ada.client, infoOf(ada, "ada")],
        [bob.client, infoOf(bob, "bob")],
      ]),
    );
  });

  it("[Z23] keeps a user until key_ttl after the census that missed it, through hibernation", async () => {
    const channel = newChannel("chat");
    const name = `users:${channel}`;
    const ada = await own.subscribe(channel, "ada");
    const { socket, keys } = await watcher(near, name);
    expect([...keys.keys()]).toStrictEqual(["ada"]);
    ada.close();
    await ada.closed;
    const goneMs = Date.now();
    await ring(name);
    await rested(name);
    for (let rung = 0; (await socket.unread()).length === 0; rung++) {
      expect(rung).toBeLessThan(5);
      await evictDurableObject(stubOf(name), { webSockets: "hibernate" });
      await ring(name);
      await call("map_stats", { channel: name });
    }
    const waitedMs = Date.now() - goneMs;
    expect(waitedMs).toBeGreaterThanOrEqual(keyTtlMs);
    expect(waitedMs).toBeLessThanOrEqual(2 * keyTtlMs);
    expect((await call("map_stats", { channel: name })).body).toContain('"num_keys":0');
  });

  it("[Z28] isn't called while nobody looks, and then forgets its keys and stores nothing", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    await own.subscribe(channel, "ada");
    await vi.waitFor(() => expect(calls.told).toBe(2), patience);
    await own.subscribe(channel, "bob");
    await near.subscribe(channel, "cyd");
    // One for each map, which said that nobody looks.
    expect(calls.told).toBe(2);
    expect(await runInDurableObject(stubOf(name), ({ sql }) => sql.rowsWritten)).toBe(0);
    const { socket } = await watcher(near, name);
    const dan = await own.subscribe(channel, "dan");
    expect(await pushLine(socket)).toBe(shown(name, dan, "dan"));
    expect(calls.told).toBe(3);
    socket.close();
    await socket.closed;
    for (let rung = 0; (await alarmOf(name)) !== null; rung++) {
      expect(rung).toBeLessThan(6);
      await ring(name);
    }
    const tables = "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
    expect(
      await runInDurableObject(stubOf(name), (_, { storage }) => [...storage.sql.exec(tables)]),
    ).toStrictEqual([]);
    await own.subscribe(channel, "eve");
    await vi.waitFor(() => expect(calls.told).toBe(4), patience);
    await own.subscribe(channel, "fay");
    expect(calls.told).toBe(4);
  });

  it("[Z24] answers that it is busy if the channel's object doesn't say who is there", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    await own.subscribe(channel, "ada");
    const [socket, other] = [await own.connect(name, "watcher"), await near.connect(name, "other")];
    calls.lose(true);
    expect((await socket.ask(ask(2, name))).error?.code).toBe(111);
    expect((await call("map_stats", { channel: name })).status).toBe(503);
    other.send(ask(2, name));
    calls.lose(false);
    expect((await watch(socket, name, 3)).size).toBe(1);
    expect(await other.line()).toContain('"state":[{');
  });
});
