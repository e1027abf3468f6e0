import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChannelObject } from "../../../workers/objects/channel-object.ts";
import type { GatewayObject } from "../../../workers/objects/gateway-object.ts";
import { gatewayName } from "../../../src/contract/object-names.ts";
import { publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { emulate, TestStream } from "../support/test-stream.ts";
import { token } from "../support/sign-token.ts";

configure({ ...openConfig, client: { ...openConfig.client, ping_interval: "1s", pong: "never" } });

const streamCount = 20;
const hourMs = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Holder = DurableObjectStub<ChannelObject | GatewayObject>;

/** One of the two kinds of endpoints. */
interface Endpoint {
  readonly name: string;
  readonly path: (channel: string) => string;
  /** The object that holds the streams' sockets. */
  readonly holder: (channel: string) => Holder;
}

const endpoints: readonly Endpoint[] = [
  {
    name: "a channel's object",
    path: (channel) => `/channel/${encodeURIComponent(channel)}/sse`,
    holder: (channel) => env.CHANNELS.getByName(channel),
  },
  {
    name: "a gateway",
    path: () => "/connection/sse",
    holder: () => env.GATEWAYS.getByName(gatewayName({ kind: "pool", region: "any", index: 0 })),
  },
];

/** A client whose stream the edge holds. */
interface StreamReader {
  readonly stream: TestStream;
  readonly session: string;
  readonly node: string;
}

async function openReader(path: string, channel: string): Promise<StreamReader> {
  const connect = { id: 1, connect: { token: await token({ sub: "ada" }) } };
  const frame = [connect, { id: 2, subscribe: { channel } }].map((one) => JSON.stringify(one));
  const stream = await TestStream.open(path, { method: "POST", body: frame.join("\n") });
  await stream.upTo("\r\n");
  const { connect: connected } = JSON.parse(await nextEvent(stream));
  expect(JSON.parse(await nextEvent(stream))).toMatchObject({ id: 2, subscribe: {} });
  return { stream, session: connected.session, node: connected.node };
}

/** The next event that isn't a ping. */
async function nextEvent(stream: TestStream): Promise<string> {
  for (;;) {
    const event = await stream.event();
    if (event !== "{}") return event;
  }
}

/** The cost of an object since its eviction, the time of its alarm, and its instance. */
function look(holder: Holder) {
  return runInDurableObject(
    holder,
    async (instance: ChannelObject | GatewayObject, { storage }) => ({
      instance,
      cost: {
        rows: instance.sql.rowsWritten,
        calls: instance.callsMade,
        alarmMs: await storage.getAlarm(),
      },
    }),
  );
}

/** Runs the alarm that is due for new connections, which might not have sent connect. */
async function runFirstAlarm(holder: Holder): Promise<void> {
  const { cost } = await look(holder);
  if (cost.alarmMs === null) return;
  vi.setSystemTime(Math.max(cost.alarmMs, Date.now()));
  expect(await runDurableObjectAlarm(holder)).toBe(true);
}

/** Throws the object away, and leaves the sockets that the edge has to it. */
function sleepNow(holder: Holder): Promise<void> {
  return evictDurableObject(holder, { webSockets: "hibernate" });
}

async function expectAsleep(holder: Holder): Promise<void> {
  await expect(evictDurableObject(holder)).rejects.toThrow(/not.*running/i);
}

describe.each(endpoints)("$name whose clients all have streams", ({ path, holder }) => {
  it("[T6] [K5] sleeps while the edge pings them: for an hour no alarm, no row and no call", async () => {
    const channel = newChannel("plain");
    const object = holder(channel);
    const listeners: StreamReader[] = [];
    for (let count = 0; count < streamCount; count++) {
      listeners.push(await openReader(path(channel), channel));
    }
    await watchedRelay.settled();
    await runFirstAlarm(object);
    const { instance } = await look(object);
    await sleepNow(object);
    vi.setSystemTime(Date.now() + hourMs);
    for (const { stream } of listeners) {
      for (let pings = 0; pings < 2; pings++) expect(await stream.event()).toBe("{}");
    }
    await expectAsleep(object);
    const later = await look(object);
    expect(later.instance).not.toBe(instance);
    expect(later.cost).toStrictEqual({ rows: 0, calls: 0, alarmMs: null });
    for (const { stream } of listeners) await stream.cancel();
  });

  it("[T6] [S2] wakes for a publication and for what a client posts, as if it had never slept", async () => {
    const channel = newChannel("plain");
    const object = holder(channel);
    const { stream, session, node } = await openReader(path(channel), channel);
    const instances = new Set<unknown>();
    for (let number = 1; number <= 3; number++) {
      instances.add((await look(object)).instance);
      await sleepNow(object);
      await publish(channel, number);
      expect(await nextEvent(stream)).toBe(
        `{"push":{"channel":"${channel}","pub":{"data":${number}}}}`,
      );
      instances.add((await look(object)).instance);
      await sleepNow(object);
      const posted = await emulate(
        session,
        node,
        `{"id":${number + 2},"presence_stats":{"channel":"${channel}"}}`,
      );
      expect(posted.status).toBe(204);
      expect(await nextEvent(stream)).toBe(
        `{"id":${number + 2},"presence_stats":{"num_clients":1,"num_users":1}}`,
      );
    }
    expect(instances.size).toBe(6);
    await stream.cancel();
  });
});
