import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mapLimits } from "../../../src/features/maps/limits.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { crashObject } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { channelPlace } from "../support/place.ts";
import { awakeVariants } from "../support/variant.ts";

const open = { subscription_type: "map", allow_subscribe_for_client: true };
configure({
  ...testConfig,
  channel: {
    namespaces: [
      { ...open, name: "kept", map: { mode: "recoverable", key_ttl: "10m", stream_size: 5 } },
      { ...open, name: "lasting", map: { mode: "persistent", stream_size: 5 } },
      { ...open, name: "brief", map: { mode: "ephemeral", key_ttl: "10m" } },
      { name: "ring", history_size: 3, history_ttl: "1h" },
    ],
  },
});

// Timers run by the real clock, and an eviction waits for them.
Object.assign(mapLimits, { mapRestMs: 500 });

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

function stubOf(channel: string) {
  return env.CHANNELS.getByName(channel);
}

async function costOf(channel: string, step: () => Promise<unknown>): Promise<number> {
  const rows = () => runInDurableObject(stubOf(channel), ({ sql }) => sql.rowsWritten);
  const before = await rows();
  await step();
  return (await rows()) - before;
}

/** Calls a method, and gives its result. */
async function ask(method: string, request: object): Promise<object> {
  const { body } = await call(method, request);
  const { result }: { result?: object } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

const set = (channel: string, key: string, data: unknown, more: object = {}) =>
  ask("map_publish", { channel, key, data, ...more });

const remove = (channel: string, key: string) => ask("map_remove", { channel, key });

const read = (channel: string) => ask("map_read_state", { channel, limit: -1 });

/** Lets the object go, as the platform does with an idle one. */
const evict = (channel: string) => evictDurableObject(stubOf(channel), { webSockets: "hibernate" });

/** A subscribe to a map, as the SDK sends it. */
function subscribing(id: number, channel: string) {
  return { id, subscribe: { channel, type: 1, phase: 2, flag: 1 } };
}

/** The next push; pings before it are answered. */
async function pushed(socket: TestSocket): Promise<object> {
  for (;;) {
    const { push } = await socket.next();
    if (push !== undefined) return push;
    socket.send({});
  }
}

/** Lets time pass until the alarm is due, and has it ring. */
async function ring(channel: string): Promise<number> {
  const dueMs = await runInDurableObject(stubOf(channel), (_, { storage }) => storage.getAlarm());
  vi.setSystemTime(Math.max(dueMs ?? 0, Date.now()));
  expect(await runDurableObjectAlarm(stubOf(channel))).toBe(true);
  return Date.now();
}

/** Writes an ephemeral map down, as its timer does when it is quiet. */
async function rest(channel: string): Promise<void> {
  vi.setSystemTime(Date.now() + mapLimits.mapRestMs);
  // Any event sets the timer by the test's clock.
  await read(channel);
  await vi.waitFor(
    async () => {
      const [row] = await runInDurableObject(stubOf(channel), (_, { storage }) => [
        ...storage.sql.exec("SELECT parts FROM map_checkpoint WHERE part = 0"),
      ]);
      if (row?.["parts"] === 0) throw new Error("not written down yet");
    },
    { timeout: 20_000, interval: 10 },
  );
}

describe.each(["kept", "lasting"])("a stored map (%s)", (namespace) => {
  it("[Z10] costs two rows for each change, however many keys it has, and none for waking or reading", async () => {
    const channel = newChannel(namespace);
    await set(channel, "first", 1);
    for (let number = 0; number < 8; number++) {
      expect(await costOf(channel, () => set(channel, `key${number}`, number))).toBe(2);
    }
    expect(
      await costOf(channel, () => set(channel, "key3", { tags: "some" }, { tags: { a: "b" } })),
    ).toBe(2);
    expect(await costOf(channel, () => remove(channel, "key4"))).toBe(2);
    expect(await costOf(channel, () => set(channel, "key3", 0, { key_mode: "if_new" }))).toBe(0);
    expect(await costOf(channel, () => read(channel))).toBe(0);
    await evict(channel);
    expect(await costOf(channel, () => read(channel))).toBe(0);
    expect(await costOf(channel, () => set(channel, "key3", 5))).toBe(2);
    await evict(channel);
    expect(await costOf(channel, () => set(channel, "key9", 9))).toBe(2);
    expect(await ask("map_stats", { channel })).toEqual({ num_keys: 9 });
  });

  it("[Z1] [Z8] has its state, its stream and its versions after an eviction", async () => {
    const channel = newChannel(namespace);
    await set(channel, "a", { n: 1 }, { version: 7, tags: { room: "x" }, score: 3 });
    await set(channel, "b", 2);
    await remove(channel, "a");
    const state = await read(channel);
    const stream = await ask("map_read_stream", { channel, limit: -1 });
    expect(state).toMatchObject({ entries: [{ key: "b", data: 2, offset: 2 }], offset: 3 });
    expect(stream).toMatchObject({
      entries: [
        { key: "a", data: { n: 1 }, offset: 1, tags: { room: "x" }, score: 3 },
        { key: "b", offset: 2 },
        { key: "a", removed: true, offset: 3, tags: { room: "x" } },
      ],
    });
    await evict(channel);
    expect(await read(channel)).toEqual(state);
    expect(await ask("map_read_stream", { channel, limit: -1 })).toEqual(stream);
    expect(await set(channel, "a", 0, { version: 7 })).toMatchObject({
      suppressed: true,
      suppress_reason: "version",
      current_offset: 0,
    });
    await crashObject(stubOf(channel));
    expect(await read(channel)).toEqual(state);
  });
});

describe("the end of keys", () => {
  it.each([
    ["kept", "awake"],
    ["kept", "evicted"],
    ["kept", "crashed"],
    ["brief", "awake"],
    ["brief", "evicted"],
  ])("[Z6] is told by one alarm, in order (%s, %s)", async (namespace, state) => {
    const channel = newChannel(namespace);
    const beganMs = Date.now();
    await set(channel, "b", 1);
    vi.setSystemTime(beganMs + 2_000);
    await set(channel, "a", 2);
    vi.setSystemTime(beganMs + 4_000);
    await set(channel, "b", 3);
    if (namespace === "brief") await rest(channel);
    if (state === "evicted") await evict(channel);
    if (state === "crashed") await crashObject(stubOf(channel));
    const ttlMs = 600_000;
    for (let rings = 0; Date.now() < beganMs + ttlMs + 2_000; rings++) {
      expect(rings).toBeLessThan(5);
      await ring(channel);
    }
    expect(Date.now()).toBeLessThanOrEqual(beganMs + ttlMs + 2_000 + mapLimits.mapExpiryGrainMs);
    expect(await read(channel)).toMatchObject({ entries: [{ key: "b", data: 3 }], offset: 4 });
    await ring(channel);
    expect(await read(channel)).toMatchObject({ entries: [], offset: 5 });
  });
});

describe("an ephemeral map", () => {
  it("[Z11] [Z29] costs no row for a change, one to begin and one to rest", async () => {
    const channel = newChannel("brief");
    // This makes the table.
    await set(channel, "a", 1);
    for (let number = 0; number < 5; number++) {
      expect(await costOf(channel, () => set(channel, `key${number}`, number))).toBe(0);
    }
    expect(await costOf(channel, () => remove(channel, "key1"))).toBe(0);
    expect(await costOf(channel, () => rest(channel))).toBe(1);
    const state = await read(channel);
    await evict(channel);
    expect(await costOf(channel, () => read(channel))).toBe(0);
    expect(await read(channel)).toEqual(state);
    expect(await costOf(channel, () => set(channel, "a", 2, { if_offset: 1 }))).toBe(1);
    expect(await costOf(channel, () => set(channel, "a", 3))).toBe(0);
  });

  it("[Z30] that crashes before it rests has a new epoch and no keys, and stays so", async () => {
    const channel = newChannel("brief");
    await set(channel, "a", 1);
    await rest(channel);
    await evict(channel);
    const before = await read(channel);
    expect(before).toMatchObject({ entries: [{ key: "a" }] });
    await set(channel, "b", 2);
    await crashObject(stubOf(channel));
    const after = await read(channel);
    expect(after).toMatchObject({ entries: [], offset: 0 });
    expect(after).not.toMatchObject({ epoch: Object(before).epoch });
    await rest(channel);
    await evict(channel);
    expect(await read(channel)).toEqual(after);
  });
});

describe.each(awakeVariants.filter(({ place }) => place !== channelPlace))(
  "a subscriber at $name",
  (variant) => {
    it("[Z30] is told by the alarm that an ephemeral map was lost, once, and reads it anew", async () => {
      const channel = newChannel("brief");
      const socket = await variant.connect(channel, "ada");
      await socket.ask(subscribing(2, channel));
      await set(channel, "a", 1);
      expect(await pushed(socket)).toMatchObject({ pub: { key: "a", data: 1 } });
      await crashObject(stubOf(channel));
      await ring(channel);
      expect(await pushed(socket)).toEqual({
        channel,
        unsubscribe: { code: 2500, reason: "insufficient state" },
      });
      const again = await socket.ask(subscribing(3, channel));
      expect(again.subscribe).not.toHaveProperty("state");
      await set(channel, "b", 2);
      expect(await pushed(socket)).toMatchObject({ pub: { key: "b", data: 2 } });
      await rest(channel);
      await evict(channel);
      await set(channel, "c", 3);
      expect(await pushed(socket)).toMatchObject({ pub: { key: "c", data: 3 } });
    });
  },
);

describe.each(awakeVariants)("a subscriber at $name", (variant) => {
  it("[Z6] is told of the end of keys, also by an object that was evicted", async () => {
    const channel = newChannel("kept");
    const socket = await variant.connect(channel, "ada");
    await socket.ask(subscribing(2, channel));
    const endMs = Date.now() + 600_000;
    await set(channel, "a", 1);
    await set(channel, "b", 2);
    for (const key of ["a", "b"]) expect(await pushed(socket)).toMatchObject({ pub: { key } });
    await evict(channel);
    vi.setSystemTime(endMs);
    await ring(channel);
    await ring(channel);
    const ends = [await pushed(socket), await pushed(socket)];
    expect(ends).toMatchObject([
      { pub: { key: "a", removed: true, offset: 3 } },
      { pub: { key: "b", removed: true, offset: 4 } },
    ]);
  });
});
