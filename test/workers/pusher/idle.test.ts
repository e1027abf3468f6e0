import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ChannelObject } from "../../../workers/objects/channel-object.ts";
import type { GatewayObject } from "../../../workers/objects/gateway-object.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { configure } from "../support/configure.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { app, secret, subscribe } from "./app-client.ts";

const socketCount = 1_000;
/** As often as quiet clients of pusher-js do. */
const pingMs = 120_000;
const namespace = { name: app.namespace, presence: true, history_size: 10, history_ttl: "30m" };

configure({
  ...testConfig,
  client: { ...testConfig.client, connection_limit: socketCount },
  channel: { namespaces: [namespace] },
  pusher: { apps: [app] },
});
Object.assign(env, { PUSHER_SECRET_SHOP: secret });

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

type Costly = GatewayObject | ChannelObject;

/** The cost of an object since its eviction, and the time of its alarm; null for none. */
function costOf(object: DurableObjectStub<Costly>) {
  return runInDurableObject(object, async ({ sql, callsMade }: Costly, { storage }) => ({
    rows: sql.rowsWritten,
    calls: callsMade,
    alarmMs: await storage.getAlarm(),
  }));
}

/** Has the alarms of an object ring that are due by then, each in its time. */
async function runAlarmsUntil(object: DurableObjectStub<Costly>, endMs: number): Promise<void> {
  for (;;) {
    const { alarmMs } = await costOf(object);
    if (alarmMs === null || alarmMs > endMs) break;
    vi.setSystemTime(Math.max(alarmMs, Date.now()));
    await runDurableObjectAlarm(object);
  }
  vi.setSystemTime(endMs);
}

it(`[K3] [K5] [PU1] ${socketCount} idle clients of pusher-js wake no object in ten minutes: no alarm, no row, no call`, async () => {
  const names = ["private-idle", "presence-idle"] as const;
  const sockets: TestSocket[] = [];
  for (let count = 0; count < socketCount; count++) {
    // A tenth of them are members of a presence channel, by ten users.
    const [channel, user] = count % 10 === 0 ? [names[1], `${(count / 10) % 10}`] : [names[0]];
    const { socket, succeeded } = await subscribe(channel, user);
    expect(succeeded).toContain("subscription_succeeded");
    sockets.push(socket);
  }
  await watchedRelay.settled();
  const gateway = env.GATEWAYS.getByName("pusher~any/0");
  const channels = names.map((name) => env.CHANNELS.getByName(`${app.namespace}:${name}`));
  // The check for clients that never connected, and what channels have to do after the subscriptions.
  for (const object of [gateway, ...channels]) await runAlarmsUntil(object, Date.now() + 10_000);
  const before = await Promise.all(channels.map((one) => costOf(one)));
  const all = [gateway, ...channels];
  for (const object of all) await evictDurableObject(object, { webSockets: "hibernate" });
  for (let minute = 2; minute <= 10; minute += 2) {
    vi.setSystemTime(Date.now() + pingMs);
    for (const socket of sockets) socket.sendFrame('{"event":"pusher:ping","data":{}}');
    for (const socket of sockets) {
      let frame = await socket.frame();
      // The members who came after this one, which it was told before.
      while (frame.includes("member_added")) frame = await socket.frame();
      expect(frame).toBe('{"event":"pusher:pong","data":{}}');
    }
    for (const object of all)
      await expect(evictDurableObject(object)).rejects.toThrow(/not.*running/i);
  }
  expect(await costOf(gateway)).toStrictEqual({ rows: 0, calls: 0, alarmMs: null });
  for (const [index, object] of channels.entries())
    expect(await costOf(object)).toMatchObject({
      rows: 0,
      calls: 0,
      alarmMs: before[index]?.alarmMs,
    });
  for (const { alarmMs } of before) expect(alarmMs ?? Infinity).toBeGreaterThan(Date.now());
  for (const socket of sockets) socket.close();
});
