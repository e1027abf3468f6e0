import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import type { ChannelObject } from "../../../workers/objects/channel-object.ts";
import type { GatewayObject } from "../../../workers/objects/gateway-object.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { awake } from "../support/object-state.ts";

/** Enough that a cost for each of them would show. */
const socketCount = 60;
const channelCount = 80;
const perSocket = 40;
const hourMs = 3_600_000;
/** A channel's rows for its stream, its first gateway and their three tables. */
const registrationRows = 8;

configure({
  ...testConfig,
  client: { ...testConfig.client, connection_limit: socketCount, channel_limit: perSocket },
});

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

const variant = new Variant(gatewayPlace(), awake);

type Costly = GatewayObject | ChannelObject;

/** The cost of an object since its eviction, and the time of its alarm; null for none. */
interface Cost {
  readonly rows: number;
  readonly calls: number;
  readonly alarmMs: number | null;
}

function costOf(object: DurableObjectStub<Costly>): Promise<Cost> {
  return runInDurableObject(object, async ({ sql, callsMade }: Costly, { storage }) => ({
    rows: sql.rowsWritten,
    calls: callsMade,
    alarmMs: await storage.getAlarm(),
  }));
}

/** Throws an object away: it starts from nothing when it wakes the next time. */
function sleepNow(object: DurableObjectStub<Costly>): Promise<void> {
  return evictDurableObject(object, { webSockets: "hibernate" });
}

/** Has an object's alarms ring that are due by then, each in its time; gives how many there were. */
async function runAlarmsUntil(
  object: DurableObjectStub<Costly>,
  endMs: number,
  ran: () => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  for (let count = 0; ; count++) {
    const { alarmMs: dueMs } = await costOf(object);
    if (dueMs === null || dueMs > endMs) {
      vi.setSystemTime(endMs);
      return count;
    }
    vi.setSystemTime(Math.max(dueMs, Date.now()));
    expect(await runDurableObjectAlarm(object)).toBe(true);
    await ran();
  }
}

/** So many clients on one gateway, each subscribed to a channel that they share; past the first minute. */
async function connectAll(home: string, query: string): Promise<readonly TestSocket[]> {
  const signed = await token({ sub: "ada" });
  const sockets: TestSocket[] = [];
  for (let count = 0; count < socketCount; count++) {
    const socket = await variant.open(home, query);
    socket.send({ id: 1, connect: { token: signed } }, { id: 2, subscribe: { channel: home } });
    sockets.push(socket);
  }
  for (const socket of sockets) {
    await socket.line();
    expect(await socket.line()).toMatch(/^\{"id":2,"subscribe":/);
  }
  await watchedRelay.settled();
  return sockets;
}

function gatewayOf(home: string): DurableObjectStub<GatewayObject> {
  return env.GATEWAYS.getByName(`${home}/0`);
}

describe("60 idle sockets on a gateway", () => {
  it("[K1] [K3] cost it 12 alarms in 5 minutes, which is 144 an hour, no row and no call, and don't wake it with their answers, when the server sends the pings", async () => {
    const home = newChannel("");
    const sockets = await connectAll(home, "");
    const [gateway, channel] = [gatewayOf(home), env.CHANNELS.getByName(home)];
    await runAlarmsUntil(gateway, Date.now() + 10_000); // the stale check
    await runAlarmsUntil(channel, Date.now());
    await sleepNow(gateway);
    await sleepNow(channel);
    const runs = await runAlarmsUntil(gateway, Date.now() + hourMs / 12, async () => {
      for (const socket of sockets) expect(await socket.frame()).toBe("{}");
      const { rows, calls, alarmMs } = await costOf(gateway);
      expect({ rows, calls }).toStrictEqual({ rows: 0, calls: 0 });
      // One alarm is set, for all of them.
      expect(alarmMs).toBe(Date.now() + 25_000);
      await sleepNow(gateway);
      for (const socket of sockets) socket.sendFrame(keepaliveTexts.request);
      for (const socket of sockets) expect(await socket.frame()).toBe(keepaliveTexts.answer);
      await expect(evictDurableObject(gateway)).rejects.toThrow(/not.*running/i);
    });
    expect(runs).toBe(12);
    const atChannel = await costOf(channel);
    expect(atChannel).toMatchObject({ rows: 0, calls: 0 });
    expect(atChannel.alarmMs).toBeGreaterThan(Date.now() + hourMs);
    expect((await call("presence_stats", { channel: home })).body).toContain(
      `"num_clients":${socketCount}`,
    );
  });

  it("[K5] cost it no alarm, no row and no call in an hour, and don't wake it, when they send the pings", async () => {
    const home = newChannel("");
    const sockets = await connectAll(home, "?keepalive=client");
    const [gateway, channel] = [gatewayOf(home), env.CHANNELS.getByName(home)];
    await runAlarmsUntil(gateway, Date.now() + 10_000); // the stale check
    await runAlarmsUntil(channel, Date.now());
    // One to the channel, one to the user's home, and one to the directory.
    expect(await costOf(gateway)).toMatchObject({ rows: 0, calls: 3, alarmMs: null });
    await sleepNow(gateway);
    await sleepNow(channel);
    vi.setSystemTime(Date.now() + hourMs);
    for (const socket of sockets) socket.sendFrame(keepaliveTexts.request);
    for (const socket of sockets) expect(await socket.frame()).toBe(keepaliveTexts.answer);
    await expect(evictDurableObject(gateway)).rejects.toThrow(/not.*running/i);
    await expect(evictDurableObject(channel)).rejects.toThrow(/not.*running/i);
    expect(await costOf(gateway)).toStrictEqual({ rows: 0, calls: 0, alarmMs: null });
    const atChannel = await costOf(channel);
    expect(atChannel).toMatchObject({ rows: 0, calls: 0 });
    expect(atChannel.alarmMs).toBeGreaterThan(Date.now() + hourMs);
  });
});

describe("80 channels with one subscriber each on a gateway", () => {
  it("[L5] cost no alarm, no row and no call in an hour, at the channels and at the gateway", async () => {
    const channels = Array.from({ length: channelCount }, () => newChannel(""));
    const [home = ""] = channels;
    for (let from = 0; from < channelCount; from += perSocket) {
      // One user may not subscribe to so many new channels at once (rule B8).
      const socket = await variant.connect(home, `ada-${from}`, {}, "?keepalive=client");
      const some = channels.slice(from, from + perSocket);
      socket.send(...some.map((channel, index) => ({ id: 10 + index, subscribe: { channel } })));
      for (const _ of some) expect(await socket.line()).toContain('"subscribe":');
    }
    await watchedRelay.settled();
    const gateway = gatewayOf(home);
    await runAlarmsUntil(gateway, Date.now() + 10_000); // the stale check
    // The last ones are to the users' homes and to the directory.
    const users = channelCount / perSocket;
    expect(await costOf(gateway)).toMatchObject({ calls: channelCount + users + 1 });
    await sleepNow(gateway);
    const endMs = Date.now() + hourMs;
    const told = watchedRelay.deliveries.length;
    for (const channel of channels) {
      const object = env.CHANNELS.getByName(channel);
      const { rows, alarmMs } = await costOf(object);
      // The runtime may have thrown it away since.
      expect([0, registrationRows]).toContain(rows);
      // Nothing happens before: the stream's own end is a month away.
      expect(alarmMs).toBeGreaterThan(endMs);
    }
    vi.setSystemTime(endMs);
    expect(await costOf(gateway)).toStrictEqual({ rows: 0, calls: 0, alarmMs: null });
    expect(watchedRelay.deliveries).toHaveLength(told);
  });
});

describe("one idle socket on a channel's own object", () => {
  it("[K1] costs it as many alarms as 60 on a gateway cost that, when the server sends the pings", async () => {
    const channel = newChannel("");
    const own = new Variant(channelPlace, awake);
    const socket = await own.subscribe(channel, "ada");
    const object = env.CHANNELS.getByName(channel);
    await runAlarmsUntil(object, Date.now() + 10_000); // the stale check
    const runs = await runAlarmsUntil(object, Date.now() + hourMs / 12, async () => {
      expect(await socket.frame()).toBe("{}");
      await sleepNow(object);
      socket.sendFrame(keepaliveTexts.request);
      expect(await socket.frame()).toBe(keepaliveTexts.answer);
      await expect(evictDurableObject(object)).rejects.toThrow(/not.*running/i);
    });
    expect(runs).toBe(12);
    expect(await costOf(object)).toMatchObject({ rows: 0, calls: 0 });
  });
});
