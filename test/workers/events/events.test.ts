import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { call, post, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { crashObject } from "../support/crash-object.ts";
import {
  answerWith,
  requestCount,
  takenOf,
  takenUntil,
  withoutRepeats,
  configureEvents,
} from "./event-receiver.ts";
import { newChannel } from "../support/new-channel.ts";
import { TestSocket } from "../support/test-socket.ts";
import { patience } from "../../support/patience.ts";

configureEvents({
  types: ["publication"],
  namespaces: ["room", "plain"],
  batch_max: 20,
  keep_max: 100,
});

afterEach(async () => {
  vi.useRealTimers();
  await answerWith(200);
});

const stubOf = (channel: string) => env.CHANNELS.getByName(channel);
const alarm = (channel: string) => runDurableObjectAlarm(stubOf(channel));

/** Resolves when the channel's object has stored that the receiver has taken all of its events. */
async function allTaken(channel: string): Promise<void> {
  await vi.waitUntil(
    () =>
      runInDurableObject(stubOf(channel), ({ sql }) => {
        const [outbox] = sql.rows("SELECT delivered FROM outbox");
        const [newest] = sql.rows("SELECT max(number) AS number FROM event");
        return outbox?.["delivered"] === newest?.["number"];
      }),
    { timeout: 10_000 },
  );
}

describe("the events of publications", () => {
  it("[E1] tell who published what, and where it is", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada", { info: { name: "Ada" } });
    const { epoch } = await publish(channel, 1, { tags: { kind: "greeting" } });
    socket.send({ id: 3, publish: { channel, data: { n: 2 } } });
    const object = `channel/${channel}`;
    const events = await takenUntil(object, ({ user }) => user === "ada");
    const number = events[0]?.number ?? 0;
    const time = events[0]?.time;
    expect(number).toBe(time);
    const times = { published_at: expect.any(Number), committed_at: expect.any(Number) };
    const common = { object, type: "publication", channel, epoch, ...times };
    expect(events).toStrictEqual([
      { ...common, number, time, first: true, offset: 1, data: 1, tags: { kind: "greeting" } },
      {
        ...common,
        number: number + 1,
        time: events[1]?.time,
        user: "ada",
        client: socket.client,
        offset: 2,
        info: { name: "Ada" },
        data: { n: 2 },
      },
    ]);
  });

  it("[E1] come from channels without history, too, and not from other namespaces", async () => {
    const [plain, ring] = [newChannel("plain"), newChannel("ring")];
    await publish(ring, 1);
    await publish(plain, 2);
    const [event] = await takenUntil(`channel/${plain}`, ({ data }) => data === 2);
    expect(event).not.toHaveProperty("offset");
    const tables = await runInDurableObject(stubOf(ring), ({ sql }) =>
      sql.rows("SELECT name FROM sqlite_master").map(({ name }) => name),
    );
    expect(tables).not.toContain("event");
    expect(await takenOf(`channel/${ring}`)).toStrictEqual([]);
  });

  it("[E1] [I1] don't come for a publication that is repeated", async () => {
    const channel = newChannel("room");
    for (const data of [1, 1]) await publish(channel, data, { idempotency_key: "k" });
    await publish(channel, 2);
    const events = await takenUntil(`channel/${channel}`, ({ data }) => data === 2);
    expect(events.map(({ data }) => data)).toStrictEqual([1, 2]);
  });

  it.each(["awake", "evicted", "crashed"])(
    "[E2] [E4] all arrive in order, objects %s between publications",
    async (state) => {
      const channel = newChannel("room");
      for (let data = 1; data <= 5; data++) {
        await publish(channel, data);
        // Until then a timer keeps it awake.
        if (state === "evicted") await allTaken(channel);
        if (state === "evicted") await hibernate(stubOf(channel));
        if (state === "crashed") await crashObject(stubOf(channel));
      }
      if (state === "crashed") await alarm(channel);
      const object = `channel/${channel}`;
      const events = withoutRepeats(await takenUntil(object, ({ data }) => data === 5));
      expect(events.map(({ data }) => data)).toStrictEqual([1, 2, 3, 4, 5]);
      const first = events[0]?.number ?? 0;
      expect(events.map(({ number }) => number - first)).toStrictEqual([0, 1, 2, 3, 4]);
    },
  );

  it("[E4] are repeated until they are taken, through a crash", async () => {
    const channel = newChannel("room");
    await answerWith(500);
    const before = await requestCount();
    await publish(channel, 1);
    await vi.waitUntil(async () => (await requestCount()) >= before + 2, { timeout: 10_000 });
    await crashObject(stubOf(channel));
    await answerWith(200);
    expect(await takenOf(`channel/${channel}`)).toStrictEqual([]);
    const dueInMs = await runInDurableObject(
      stubOf(channel),
      async (_, { storage }) => ((await storage.getAlarm()) ?? 0) - Date.now(),
    );
    expect(dueInMs).toBeGreaterThan(0);
    expect(dueInMs).toBeLessThanOrEqual(eventLimits.eventsAlarmMs);
    expect(await alarm(channel)).toBe(true);
    const events = await takenUntil(`channel/${channel}`, ({ data }) => data === 1);
    expect(events).toHaveLength(1);
  });

  it("[E3] wait for a slow receiver, and nobody else does", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    await socket.unread();
    await answerWith(200, 8_000);
    const before = await requestCount();
    await publish(channel, 0);
    await vi.waitUntil(async () => (await requestCount()) > before, patience);
    for (let data = 1; data <= 40; data++) {
      await publish(channel, data);
      await socket.line();
    }
    expect(await requestCount()).toBe(before + 1);
    await answerWith(200);
    const object = `channel/${channel}`;
    const events = await takenUntil(object, ({ data }) => data === 40);
    expect(events.map(({ data }) => data)).toStrictEqual(
      Array.from({ length: 41 }, (_, data) => data),
    );
  });

  it("[E7] cost a row each and share calls, and one row when nothing waits", async () => {
    const channel = newChannel("plain");
    await publish(channel, 0);
    await allTaken(channel);
    const costs = () =>
      runInDurableObject(stubOf(channel), ({ sql, callsMade }) => [sql.rowsWritten, callsMade]);
    const [rows = 0, calls = 0] = await costs();
    const commands = Array.from({ length: 20 }, (_, data) => ({
      publish: { channel, data: data + 1 },
    }));
    await call("batch", { commands });
    await allTaken(channel);
    expect(await costs()).toStrictEqual([rows + 21, calls + 1]);
  });

  it("[E5] can be asked for, awake and evicted", async () => {
    const channel = newChannel("room");
    for (const data of [1, 2, 3]) await publish(channel, data);
    const object = `channel/${channel}`;
    const sent = await takenUntil(object, ({ data }) => data === 3);
    // The time of a commit isn't stored (rule E12).
    const taken = sent.map((event) => {
      const { committed_at: atMs, ...stored } = event;
      expect(atMs).toBeGreaterThanOrEqual(event.time);
      return stored;
    });
    await allTaken(channel);
    const [first] = taken;
    for (let round = 0; round < 2; round++) {
      const all = await call("events", { object });
      expect(JSON.parse(all.body)).toStrictEqual({ result: { events: taken } });
      const after = await call("events", { object, since: first?.number, limit: 1 });
      expect(JSON.parse(after.body)).toStrictEqual({ result: { events: [taken[1]] } });
      await hibernate(stubOf(channel));
    }
    const none = '{"result":{"events":[]}}';
    expect((await call("events", { object: `channel/${newChannel("room")}` })).body).toBe(none);
    expect((await call("events", { object: "gateway/nowhere/0" })).body).toBe(none);
    expect((await call("events", { object: "nothing" })).body).toContain('"code":107');
    expect((await post("/api/events", '{"object":1}')).status).toBe(400);
  });

  it("[E16] [H13] leave nothing behind when they are of no use", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const channel = newChannel("plain");
    await publish(channel, 1);
    await allTaken(channel);
    const storage = () =>
      runInDurableObject(stubOf(channel), async ({ sql }, state) => ({
        alarm: await state.storage.getAlarm(),
        tables: sql
          .rows("SELECT name FROM sqlite_master WHERE type = 'table'")
          .map(({ name }) => name),
      }));
    for (let rings = 0; rings < 3; rings++) {
      const { alarm: dueAtMs } = await storage();
      if (dueAtMs === null) break;
      vi.setSystemTime(dueAtMs);
      await alarm(channel);
    }
    expect(await storage()).toStrictEqual({ alarm: null, tables: [] });
  });
});
