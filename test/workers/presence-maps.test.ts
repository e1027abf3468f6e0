import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../src/limits.ts";
import { beginAnswerClock, endAnswerClock } from "./answer-clock.ts";
import { call } from "./api-request.ts";
import { configure } from "./configure.ts";
import { crashObject, lostCall } from "./crash-object.ts";
import { newChannel } from "./new-channel.ts";
import { awake } from "./object-state.ts";
import { channelPlace, gatewayPlace } from "./place.ts";
import { testConfig } from "./test-config.ts";
import type { TestSocket } from "./test-socket.ts";
import { awakeVariants, Variant, variants } from "./variant.ts";

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

const infoOf = ({ client }: TestSocket, user: string) => ({ info: { user, client } });

/** The push of a change, byte for byte. */
const shown = (channel: string, { client }: TestSocket, user: string) =>
  `{"push":{"channel":"${channel}","pub":{"info":{"user":"${user}","client":"${client}"},"key":"${client}"}}}`;
const removed = (channel: string, key: string) =>
  `{"push":{"channel":"${channel}","pub":{"key":"${key}","removed":true}}}`;

const stubOf = (channel: string) => env.CHANNELS.getByName(channel);

/** Has the platform lose the calls of a method to channels' objects, until the returned function is called. */
function loseCalls(method: string): () => void {
  const { CHANNELS } = env;
  const getByName = CHANNELS.getByName.bind(CHANNELS);
  CHANNELS.getByName = (name, options) => {
    const stub = getByName(name, options);
    Object.defineProperty(stub, method, { value: lostCall });
    return stub;
  };
  return () => {
    CHANNELS.getByName = getByName;
  };
}

describe.each(variants)("a map of the clients of a channel, on $name", (variant) => {
  it("[Z21][Z22] has those that are there, and is told who comes and goes in whatever way", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const pause = async () => {
      await variant.betweenSteps(channel);
      await variant.betweenSteps(name);
    };
    const ada = await variant.subscribe(channel, "ada");
    await pause();
    const { socket, keys } = await watcher(variant, name);
    expect(keys).toStrictEqual(new Map([[ada.client, infoOf(ada, "ada")]]));
    await pause();
    for (const how of ["unsubscribes", "goes", "is unsubscribed", "is disconnected"]) {
      const bob = await variant.subscribe(channel, "bob");
      expect(await socket.line()).toBe(shown(name, bob, "bob"));
      await pause();
      if (how === "unsubscribes") bob.send({ id: 4, unsubscribe: { channel } });
      else if (how === "goes") bob.close();
      else if (how === "is unsubscribed") await call("unsubscribe", { channel, user: "bob" });
      else await call("disconnect", { user: "bob" });
      expect(await socket.line()).toBe(removed(name, bob.client));
      await pause();
    }
    const late = await watcher(variant, name);
    expect(late.keys).toStrictEqual(new Map([[ada.client, infoOf(ada, "ada")]]));
    await pause();
    ada.close();
    for (const each of [socket, late.socket])
      expect(await each.line()).toBe(removed(name, ada.client));
  });

  it("[Z21] has each user once, without info, and no anonymous one", async () => {
    const channel = newChannel("chat");
    const name = `users:${channel}`;
    const ada = await variant.subscribe(channel, "ada");
    await variant.subscribe(channel, "ada");
    await variant.subscribe(channel, "");
    await variant.betweenSteps(channel);
    const { socket, keys } = await watcher(variant, name);
    expect(keys).toStrictEqual(new Map([["ada", {}]]));
    await variant.betweenSteps(name);
    await variant.subscribe(channel, "");
    await variant.subscribe(channel, "ada");
    await variant.subscribe(channel, "bob");
    await variant.betweenSteps(channel);
    expect(await socket.line()).toBe(`{"push":{"channel":"${name}","pub":{"key":"bob"}}}`);
    ada.close();
    await variant.betweenSteps(name);
    expect((await watcher(variant, name)).keys).toStrictEqual(
      new Map([
        ["ada", {}],
        ["bob", {}],
      ]),
    );
  });
});

describe.each(awakeVariants)("a presence map, on $name", (variant) => {
  it("[Z21] is subscribed to as what it is, and changed by nobody", async () => {
    const name = `clients:${newChannel("chat")}`;
    const socket = await variant.connect(name, "ada");
    const errorOf = async (command: {
      readonly id: number;
      readonly [method: string]: object | number;
    }) => (await socket.ask(command)).error?.code;
    for (const type of [0, 1, 3, 4])
      expect(await errorOf({ id: 2, subscribe: { channel: name, type } })).toBe(103);
    socket.send(ask(3, name));
    expect(await socket.line()).toMatch(
      /^\{"id":3,"subscribe":\{"epoch":"\w+","type":2(,"state":\[\])?\}\}$/,
    );
    for (const type of [0, 1, 2]) {
      const publish = { channel: name, type, key: socket.client };
      expect(await errorOf({ id: 4, publish: { ...publish, data: 1 } })).toBe(107);
      expect(await errorOf({ id: 5, publish: { ...publish, removed: true } })).toBe(107);
    }
  });

  it("[Z21] is read in pages of one moment", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const clients = new Set<string>();
    for (const user of ["ada", "bob", "cyd"])
      clients.add((await variant.subscribe(channel, user)).client);
    const socket = await variant.connect(name, "watcher");
    const found = new Set<string>();
    let fields: object = { limit: 2 };
    for (let id = 2; id < 9; id++) {
      socket.send(ask(id, name, fields));
      const {
        subscribe,
      }: { subscribe: { state?: { key: string }[]; cursor?: string; epoch: string } } = JSON.parse(
        await socket.line(),
      );
      for (const { key } of subscribe.state ?? []) found.add(key);
      if (subscribe.cursor === undefined) break;
      fields = { limit: 2, cursor: subscribe.cursor, epoch: subscribe.epoch };
    }
    expect(found).toStrictEqual(clients);
  });
});

describe("a presence map", () => {
  const own = new Variant(channelPlace, awake);
  const near = new Variant(gatewayPlace(0), awake);
  const far = new Variant(gatewayPlace(1), awake);

  beforeEach(() => beginAnswerClock(stubOf("clock")));
  afterEach(endAnswerClock);

  /** Lets time pass until the alarm of a map is due, and has it ring. */
  async function ring(channel: string): Promise<void> {
    const dueMs = await runInDurableObject(stubOf(channel), (_, { storage }) => storage.getAlarm());
    vi.setSystemTime(Math.max(dueMs ?? 0, Date.now()));
    expect(await runDurableObjectAlarm(stubOf(channel))).toBe(true);
  }

  const callsOf = (channel: string) =>
    runInDurableObject(stubOf(channel), (object) => object.callsMade);
  const rowsOf = (channel: string) =>
    runInDurableObject(stubOf(channel), ({ sql }) => sql.rowsWritten);

  it("[Z21] shows the clients of all objects to a backend, which can't change them", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const all = [await own.subscribe(channel, "ada")];
    for (const variant of [near, far]) all.push(await variant.subscribe(channel, "bob"));
    const read = await call("map_read_state", { channel: name, limit: -1 });
    const { result }: { result: { entries: { key: string; info: object }[] } } = JSON.parse(
      read.body,
    );
    expect(result.entries.map(({ key }) => key)).toStrictEqual(
      all.map(({ client }) => client).toSorted(),
    );
    expect((await call("map_stats", { channel: name })).body).toBe('{"result":{"num_keys":3}}');
    for (const [method, fields] of [
      ["map_publish", { key: "a", data: 1 }],
      ["map_remove", { key: "a" }],
      ["map_clear", {}],
      ["publish", { data: 1 }],
    ] as const)
      expect((await call(method, { channel: name, ...fields })).body).toContain('"code":107');
    expect((await call("map_stats", { channel: `users:${channel}` })).body).toBe(
      '{"result":{"num_keys":2}}',
    );
    expect((await call("map_stats", { channel: `clients:${newChannel("other")}` })).body).toBe(
      '{"result":{"num_keys":0}}',
    );
  });

  it("[Z22] of a gateway that crashed loses its clients within key_ttl, and only those", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const ada = await near.subscribe(channel, "ada");
    const bob = await far.subscribe(channel, "bob");
    const { socket, keys } = await watcher(own, name);
    expect(new Set(keys.keys())).toStrictEqual(new Set([ada.client, bob.client]));
    const startMs = Date.now();
    await evictDurableObject(near.place.holder(channel), { webSockets: "close" });
    await ada.closed;
    await ring(name);
    expect(await socket.line()).toBe(removed(name, ada.client));
    expect(Date.now() - startMs).toBeLessThanOrEqual(keyTtlMs);
    expect((await watcher(near, name)).keys).toStrictEqual(
      new Map([[bob.client, infoOf(bob, "bob")]]),
    );
  });

  it("[Z22] has what it wasn't told after the next census, also when its own object crashed", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    const { socket } = await watcher(near, name);
    const restore = loseCalls("presenceTold");
    const ada = await own.subscribe(channel, "ada");
    await vi.waitFor(async () => expect(await callsOf(channel)).toBeGreaterThan(0));
    restore();
    await ring(name);
    expect(await socket.line()).toBe(shown(name, ada, "ada"));
    await crashObject(stubOf(name));
    const bob = await own.subscribe(channel, "bob");
    // Its subscribers have to begin anew, and find everybody.
    expect(await socket.line()).toContain('"unsubscribe":{"code":2500');
    expect(await watch(socket, name, 7)).toStrictEqual(
      new Map(
        [ada, bob].map((each, index) => [each.client, infoOf(each, index === 0 ? "ada" : "bob")]),
      ),
    );
  });

  it("[Z23] keeps a user until key_ttl after the census that didn't find him, through hibernation", async () => {
    const channel = newChannel("chat");
    const name = `users:${channel}`;
    const ada = await own.subscribe(channel, "ada");
    const { socket, keys } = await watcher(near, name);
    expect([...keys.keys()]).toStrictEqual(["ada"]);
    ada.close();
    await ada.closed;
    const goneMs = Date.now();
    await ring(name);
    for (let rung = 0; rung < 9 && socket.received === 0; rung++) {
      await vi.waitFor(async () => expect(await rest(name)).toBe(true));
      await evictDurableObject(stubOf(name), { webSockets: "hibernate" });
      await ring(name);
      await near.place.holder(name).present(name);
    }
    expect(await socket.line()).toBe(removed(name, "ada"));
    const waitedMs = Date.now() - goneMs;
    expect(waitedMs).toBeGreaterThanOrEqual(keyTtlMs);
    expect(waitedMs).toBeLessThanOrEqual(2 * keyTtlMs + limits.mapExpiryGrainMs);
  });

  /** Writes the map down, as its timer does when it is quiet. @returns whether nothing is left to be written */
  async function rest(channel: string): Promise<boolean> {
    vi.setSystemTime(Date.now() + limits.mapRestMs);
    // Any event sets the timer by the test's clock.
    await call("map_stats", { channel });
    return runInDurableObject(stubOf(channel), (_, { storage }) =>
      [...storage.sql.exec("SELECT parts FROM map_checkpoint WHERE part = 0")].every(
        ({ parts }) => parts !== 0,
      ),
    );
  }

  it("[Z22] isn't called while nobody looks, and stores nothing then", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    await own.subscribe(channel, "ada");
    await vi.waitFor(async () => expect(await callsOf(channel)).toBe(2));
    await own.subscribe(channel, "bob");
    await near.subscribe(channel, "cyd");
    // One for each map, which said that nobody looks.
    expect(await callsOf(channel)).toBe(2);
    expect(await rowsOf(name)).toBe(0);
    const { socket } = await watcher(near, name);
    const before = await callsOf(channel);
    const dan = await own.subscribe(channel, "dan");
    expect(await socket.line()).toBe(shown(name, dan, "dan"));
    expect(await callsOf(channel)).toBe(before + 1);
    socket.close();
    await socket.closed;
    await vi.waitFor(async () => expect(await isHeld(name)).toBe(false));
    await ring(name);
    expect(await keysIn(name)).toBe(0);
    await own.subscribe(channel, "eve");
    await vi.waitFor(async () => expect(await callsOf(channel)).toBe(before + 2));
    await own.subscribe(channel, "fay");
    expect(await callsOf(channel)).toBe(before + 2);
    await ring(name);
    expect(await runInDurableObject(stubOf(name), (_, { storage }) => storage.getAlarm())).toBe(
      null,
    );
  });

  const isHeld = async (channel: string): Promise<boolean> => {
    const { channel: state } = await stubOf(channel).inspect({});
    return (state?.gateways.length ?? 0) > 0;
  };
  const keysIn = (channel: string) =>
    runInDurableObject(stubOf(channel), (_, { storage }) => {
      const found = [
        ...storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'map_state'"),
      ];
      return found.length;
    });

  it("[Z24] answers that it is busy if the channel's object doesn't say who is there", async () => {
    const channel = newChannel("chat");
    const name = `clients:${channel}`;
    await own.subscribe(channel, "ada");
    const restore = loseCalls("present");
    const socket = await own.connect(name, "watcher");
    expect((await socket.ask(ask(2, name))).error?.code).toBe(111);
    expect((await call("map_stats", { channel: name })).status).toBe(503);
    restore();
    expect((await watch(socket, name, 3)).size).toBe(1);
  });
});
