import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { History } from "../../../src/channel/history.ts";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { call, keptData, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

const fiveMinutesMs = 300_000;

function stubOf(channel: string) {
  return env.CHANNELS.getByName(channel);
}

/** How many rows an object has written since it woke. */
function rowsWritten(channel: string): Promise<number> {
  return runInDurableObject(stubOf(channel), ({ sql }) => sql.rowsWritten);
}

/** How many rows a step costs. */
async function costOf(channel: string, step: () => Promise<unknown>): Promise<number> {
  const before = await rowsWritten(channel);
  await step();
  return (await rowsWritten(channel)) - before;
}

function alarmOf(channel: string): Promise<number | null> {
  return runInDurableObject(stubOf(channel), (_, { storage }) => storage.getAlarm());
}

/** Records each time at which an object sets its alarm, until the object is evicted. */
async function watchAlarms(channel: string): Promise<readonly number[]> {
  const times: number[] = [];
  await runInDurableObject(stubOf(channel), (_, { storage }) => {
    const setAlarm = storage.setAlarm.bind(storage);
    vi.spyOn(storage, "setAlarm").mockImplementation((time) => {
      times.push(Number(time));
      return setAlarm(time);
    });
  });
  return times;
}

/** Lets time pass until the object's alarm is due, and has it ring in a fresh instance. */
async function runAlarmWhenDue(channel: string): Promise<void> {
  const dueMs = await alarmOf(channel);
  if (dueMs === null) throw new Error("no alarm is set");
  vi.setSystemTime(Math.max(dueMs, Date.now()));
  expect(await runDurableObjectAlarm(stubOf(channel))).toBe(true);
}

/** The tables in an object's database; the platform's own is where the alarm is. */
function tablesOf(channel: string): Promise<readonly string[]> {
  return runInDurableObject(stubOf(channel), (_, { storage }) =>
    [...storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master")]
      .map(({ name }) => name)
      .sort(),
  );
}

const alarmTable = "_cf_METADATA";

describe("the rows written", () => {
  it("[H1] is one row for a publication with history, however often the ring wraps", async () => {
    const channel = newChannel("ring");
    await publish(channel, "creates the tables");
    for (let count = 0; count < 10; count++) {
      const tags = count % 2 === 0 ? {} : { tags: { t: "1" }, version: count, version_epoch: "v" };
      expect(await costOf(channel, () => publish(channel, count, tags))).toBe(1);
    }
    expect(await keptData(channel)).toStrictEqual(["7", "8", "9"]);
  });

  it("[H1] is one row for each of a batch's publications, and for a client's", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    const commands = Array.from({ length: 25 }, (_, data) => ({ publish: { channel, data } }));
    expect(await costOf(channel, () => call("batch", { commands }))).toBe(25);
    await socket.unread();
    const publishing = async () => {
      socket.send({ id: 3, publish: { channel, data: 1 } });
      await socket.unread();
    };
    expect(await costOf(channel, publishing)).toBe(1);
  });

  it("[H1] are one for a publication also after hibernation, and none for waking", async () => {
    const channel = newChannel("ring");
    for (const data of [1, 2, 3, 4]) await publish(channel, data);
    for (const data of [5, 6]) {
      await evictDurableObject(stubOf(channel), { webSockets: "hibernate" });
      expect(await rowsWritten(channel)).toBe(0);
      expect(await costOf(channel, () => publish(channel, data))).toBe(1);
    }
  });

  it("[H8] is nothing for a channel without history", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.subscribe(channel, "ada");
    await publish(channel, 1, { tags: { a: "b" }, version: 1 });
    await call("history", { channel });
    await call("history_remove", { channel });
    socket.send({ id: 3, publish: { channel, data: 2 } }, { id: 4, unsubscribe: { channel } });
    await socket.unread();
    expect(await rowsWritten(channel)).toBe(0);
    expect(await tablesOf(channel)).toStrictEqual([alarmTable]);
  });

  it("[P1] are none for presence, joins and leaves, and for reading", async () => {
    const channel = newChannel("room");
    await publish(channel, 1);
    const cost = await costOf(channel, async () => {
      const [ada, bob] = [
        await TestSocket.subscribe(channel, "ada"),
        await TestSocket.subscribe(channel, "bob"),
      ];
      ada.send({ id: 3, presence: { channel } }, { id: 4, history: { channel, limit: 3 } });
      await call("presence", { channel });
      await call("presence_stats", { channel });
      await call("history", { channel, limit: -1 });
      bob.close();
      await bob.closed;
      await ada.unread();
    });
    expect(cost).toBe(0);
  });

  it("[I2] are no more for a key, unless its row is deleted while it is young", async () => {
    const channel = newChannel("ring");
    const keyed = (key: string) => () => publish(channel, key, { idempotency_key: key });
    await publish(channel, "creates the tables");
    for (const key of ["a", "b", "c"]) expect(await costOf(channel, keyed(key))).toBe(1);
    expect(await costOf(channel, keyed("c"))).toBe(0);
    await keyed("d")(); // overwrites a's row: the first key with a row of its own creates their table
    expect(await costOf(channel, keyed("e"))).toBe(2); // and b's
    expect(await costOf(channel, keyed("a"))).toBe(0);
    vi.setSystemTime(Date.now() + fiveMinutesMs);
    // The publications that are overwritten now are old, and their keys' rows have expired with the table.
    for (const key of ["f", "g", "h"]) expect(await costOf(channel, keyed(key))).toBe(1);
    await keyed("i")(); // overwrites f's row and creates the table again
    expect(await costOf(channel, keyed("j"))).toBe(2);
  });

  it("[I2] is one row for a key without history", async () => {
    const channel = newChannel("plain");
    const keyed = (key: string) => () => publish(channel, key, { idempotency_key: key });
    await keyed("creates the table")();
    expect(await costOf(channel, keyed("a"))).toBe(1);
    expect(await costOf(channel, keyed("a"))).toBe(0);
  });
});

describe("the alarm", () => {
  it("[H1] is set once for a stream's end, and not again by each publication", async () => {
    const channel = newChannel("ring");
    const alarms = await watchAlarms(channel);
    for (let count = 0; count < 20; count++) {
      await publish(channel, count);
      vi.setSystemTime(Date.now() + 1_000);
    }
    expect(alarms).toHaveLength(1);
  });

  it("[H8] [H14] isn't set for a channel without subscribers and history", async () => {
    const channel = newChannel("plain");
    await publish(channel, 1);
    expect(await alarmOf(channel)).toBeNull();
  });

  it("[K5] is gone after the stale check where clients send the pings", async () => {
    const channel = newChannel("plain");
    for (const user of ["ada", "bob"]) {
      const socket = await TestSocket.open(channel, "?keepalive=client");
      await socket.ask({ id: 1, connect: { token: await token({ sub: user }) } });
      await socket.ask({ id: 2, subscribe: { channel } });
    }
    expect(await alarmOf(channel)).toBe(Date.now() + 10_000);
    await runAlarmWhenDue(channel);
    expect(await alarmOf(channel)).toBeNull();
    vi.setSystemTime(Date.now() + 30_000);
    await publish(channel, 1);
    expect(await alarmOf(channel)).toBeNull();
  });

  it("[K1] is one for each interval, however many sockets there are and whatever they do", async () => {
    const channel = newChannel("plain");
    const sockets: TestSocket[] = [];
    for (const user of ["a", "b", "c", "d"]) {
      sockets.push(await TestSocket.subscribe(channel, user));
      vi.setSystemTime(Date.now() + 100);
    }
    await runAlarmWhenDue(channel); // the stale check
    const alarms = await watchAlarms(channel);
    const ranAtMs: number[] = [];
    for (let interval = 0; interval < 3; interval++) {
      await runAlarmWhenDue(channel);
      ranAtMs.push(Date.now());
      for (const socket of sockets) {
        expect(await socket.frame()).toBe("{}");
        socket.sendFrame("{}");
        expect(await socket.frame()).toBe(keepaliveTexts.answer);
        socket.send({ id: 3, publish: { channel, data: 1 } });
      }
      for (const socket of sockets) await socket.unread();
    }
    const [first = 0] = ranAtMs;
    expect(ranAtMs).toStrictEqual([first, first + 25_000, first + 50_000]);
    expect(alarms).toStrictEqual([first + 25_000, first + 50_000, first + 75_000]);
  });

  it("[K1] ends with the last socket", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.subscribe(channel, "ada");
    await runAlarmWhenDue(channel);
    socket.close();
    await socket.closed;
    await runAlarmWhenDue(channel);
    expect(await alarmOf(channel)).toBeNull();
  });
});

describe("a channel to which nothing came", () => {
  it("[H13] stores nothing once a client that never connected is gone", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.open(channel);
    await runAlarmWhenDue(channel);
    expect((await socket.closed).code).toBe(3502);
    await runDurableObjectAlarm(stubOf(channel));
    expect(await alarmOf(channel)).toBeNull();
    expect(await tablesOf(channel)).toStrictEqual([]);
  });

  it("[H12] [H13] stores nothing three hours after its last subscriber has left", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    expect(await tablesOf(channel)).toContain("stream");
    socket.close();
    await socket.closed;
    await evictDurableObject(stubOf(channel));
    for (let count = 0; count < 4 && (await alarmOf(channel)) !== null; count++)
      await runAlarmWhenDue(channel);
    expect(await alarmOf(channel)).toBeNull();
    expect(await tablesOf(channel)).toStrictEqual([]);
  });
});

describe("the end of a stream", () => {
  const metaTtlMs = 60_000;

  it("[H6] [H13] deletes epoch, offset and all storage, by the alarm of a sleeping object", async () => {
    const channel = newChannel("brief");
    const { epoch } = await publish(channel, 1, { idempotency_key: "k" });
    expect(await alarmOf(channel)).toBe(Date.now() + metaTtlMs);
    await evictDurableObject(stubOf(channel));
    vi.setSystemTime(Date.now() + metaTtlMs - 1);
    expect(await runDurableObjectAlarm(stubOf(channel))).toBe(true);
    expect((await call("history", { channel })).body).toContain(epoch);
    await evictDurableObject(stubOf(channel));
    await runAlarmWhenDue(channel);
    // The key is remembered for longer than the stream (rule I1).
    expect(await tablesOf(channel)).toStrictEqual([alarmTable, "spared_key"]);
    await runAlarmWhenDue(channel);
    expect(await tablesOf(channel)).toStrictEqual([]);
    expect(await alarmOf(channel)).toBeNull();
    const next = await publish(channel, 2);
    expect(next.offset).toBe(1);
    expect(next.epoch).not.toBe(epoch);
  });

  it("[H6] waits for the last subscriber, which has a position in it", async () => {
    const channel = newChannel("brief");
    const { epoch } = await publish(channel, 1);
    const socket = await TestSocket.open(channel, "?keepalive=client");
    await socket.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    await socket.ask({ id: 2, subscribe: { channel } });
    await runAlarmWhenDue(channel); // the stale check
    vi.setSystemTime(Date.now() - 10_000 + metaTtlMs);
    // Such a client pings: this socket's silence is shorter than its patience.
    await runAlarmWhenDue(channel);
    expect(await tablesOf(channel)).toStrictEqual([alarmTable, "publication", "stream"]);
    // Waiting for a client to leave takes no alarm (rule K5).
    expect(await alarmOf(channel)).toBeNull();
    expect(await publish(channel, 2)).toStrictEqual({ offset: 2, epoch });
    expect(await socket.unread()).toStrictEqual([expect.stringContaining('"offset":2')]);
    vi.setSystemTime(Date.now() + metaTtlMs);
    socket.close();
    await socket.closed;
    await runDurableObjectAlarm(stubOf(channel));
    expect(await tablesOf(channel)).toStrictEqual([]);
    expect(await alarmOf(channel)).toBeNull();
  });

  it("[H8] deletes all storage of a channel with history switched off", async () => {
    const channel = newChannel("plain");
    const storedAtMs = await leaveStream(channel, 60_000);
    await evictDurableObject(stubOf(channel));
    vi.setSystemTime(storedAtMs + 60_000);
    expect(await runDurableObjectAlarm(stubOf(channel))).toBe(true);
    expect(await tablesOf(channel)).toStrictEqual([]);
    expect(await alarmOf(channel)).toBeNull();
  });

  it("[H13] comes for a namespace that left the configuration too, and not before", async () => {
    const channel = newChannel("gone");
    const storedAtMs = await leaveStream(channel, 60_000);
    await evictDurableObject(stubOf(channel));
    await runAlarmWhenDue(channel);
    expect(await tablesOf(channel)).toStrictEqual([alarmTable, "publication", "stream"]);
    expect(await alarmOf(channel)).toBe(storedAtMs + metaTtlOtherwiseMs);
    await evictDurableObject(stubOf(channel));
    await runAlarmWhenDue(channel);
    expect(await tablesOf(channel)).toStrictEqual([]);
    expect(await alarmOf(channel)).toBeNull();
  });
});

/** `channel.history_meta_ttl` as it is by default: 720h. */
const metaTtlOtherwiseMs = 2_592_000_000;

/** Stores in an object what a release with other options left there; its alarm is due after the given time. */
function leaveStream(channel: string, dueInMs: number): Promise<number> {
  const nowMs = Date.now();
  return runInDurableObject(stubOf(channel), async (_, { storage }) => {
    const options = { size: 5, ttlMs: 60_000, metaTtlMs: 60_000 };
    const history = new History(new ObjectSql(storage), options, () => "former");
    history.append(formerPublication, nowMs);
    await storage.setAlarm(nowMs + dueInMs);
    return nowMs;
  });
}

const formerPublication = {
  data: trustedJsonText("1"),
  idempotencyKey: "",
  version: 0n,
  versionEpoch: "",
  delta: false,
};
