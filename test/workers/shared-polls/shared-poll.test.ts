import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pollLimits } from "../../../src/features/shared-polls/limits.ts";
import { limits } from "../../../src/limits.ts";
import { columnText } from "../../../src/sql.ts";
import type { ChannelObject } from "../../../workers/objects/channel-object.ts";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { crashObject } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import type { Holder } from "../support/place.ts";
import { testConfig } from "../support/test-config.ts";
import { keySignature } from "../support/sign-token.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awakeVariants, type Variant } from "../support/variant.ts";
import { patience } from "../../support/patience.ts";

const secret = "shared-poll-secret-of-worker-tests";
const polled = { allow_subscribe_for_client: true, subscription_type: "shared_poll" };
configure({
  ...testConfig,
  channel: {
    proxy: { shared_poll_refresh: { endpoint: "service:BACKEND", timeout: "20s" } },
    namespaces: [
      { name: "quick", ...polled, shared_poll: { refresh_interval: "100ms" } },
      {
        name: "slow",
        ...polled,
        shared_poll: { refresh_interval: "1h", mode: "versioned", publish_enabled: true },
      },
      { name: "stream", allow_subscribe_for_client: true },
    ],
  },
});
Object.assign(env, {
  HOOK_SIGNING_SECRET: "hook-signing-secret-of-worker-tests",
  SHARED_POLL_HMAC_SECRET_KEY: secret,
});

/** Sets the backend's answers for a channel from now on; see test/workers/support/programs/hook-backend.js. */
async function backendSays(channel: string, answer: object): Promise<void> {
  await env.BACKEND.fetch("https://backend/polls", {
    method: "POST",
    body: JSON.stringify({ channel, answer }),
  });
}

const values = (...items: readonly object[]) => ({ body: { result: { items } } });

/** How many questions the backend has been asked about a channel, and the most at once. */
async function questions(channel: string): Promise<{ asked: number; together: number }> {
  const response = await env.BACKEND.fetch(`https://backend/polls?channel=${channel}`);
  return response.json();
}

/** Signs keys for Ada, until a time in seconds since 1970. */
function sign(channel: string, keys: readonly string[], expireAt = 0): Promise<string> {
  return keySignature({ user: "ada", channel, keys }, secret, expireAt);
}

async function track(channel: string, keys: readonly string[], expireAt = 0) {
  const items = keys.map((key) => ({ key }));
  const signature = await sign(channel, keys, expireAt);
  return { id: 3, sub_refresh: { channel, type: 1, track: [{ signature, items }] } };
}

/** A socket of Ada's that tracks keys. */
async function tracking(
  variant: Variant,
  channel: string,
  ...keys: readonly string[]
): Promise<TestSocket> {
  const socket = await variant.connect(channel, "ada");
  await socket.ask({ id: 2, subscribe: { channel, type: 4 } });
  socket.send(await track(channel, keys));
  expect(await socket.line()).toBe(`{"id":3,"sub_refresh":{}}`);
  return socket;
}

const push = (channel: string, pub: string) =>
  `{"push":{"channel":${JSON.stringify(channel)},"pub":${pub}}}`;
const ended = (channel: string) =>
  `{"push":{"channel":${JSON.stringify(channel)},"unsubscribe":{"code":2500,"reason":"insufficient state"}}}`;

/** The rows with what the clients of a gateway track. */
function trackRows(holder: Holder): Promise<readonly string[]> {
  return runInDurableObject<DurableObject, readonly string[]>(holder, (_, { storage }) => {
    const sql = new ObjectSql(storage);
    const [table] = sql.rows("SELECT name FROM sqlite_master WHERE name = 'track'");
    return table === undefined
      ? []
      : sql.rows("SELECT packed FROM track").map((row) => columnText(row, "packed"));
  });
}

/** The rows that a channel's object has written since it woke, and when its alarm rings. */
function costs(channel: string): Promise<{ rows: number; alarmMs: number | null }> {
  return runInDurableObject(
    env.CHANNELS.getByName(channel),
    async ({ sql }: ChannelObject, { storage }) => ({
      rows: sql.rowsWritten,
      alarmMs: await storage.getAlarm(),
    }),
  );
}

beforeEach(() => vi.useRealTimers());
afterEach(() => vi.useRealTimers());

describe.each(awakeVariants)("a shared poll, on $place.name", (variant) => {
  it("[SP3][SP12] tells the changes of the keys that a client tracks, in one frame for each poll", async () => {
    const channel = newChannel("quick");
    await backendSays(channel, values({ key: "a", data: 1 }, { key: "b", data: { n: 1.5 } }));
    const socket = await tracking(variant, channel, "a", "b");
    expect(await socket.frame()).toBe(
      `${push(channel, '{"data":1,"key":"a","version":1}')}\n${push(channel, '{"data":{"n":1.5},"key":"b","version":2}')}`,
    );
    await backendSays(channel, values({ key: "a", data: 1 }, { key: "b", data: 2 }));
    expect(await socket.frame()).toBe(push(channel, '{"data":2,"key":"b","version":3}'));
    await backendSays(channel, values({ key: "a", removed: true }));
    expect(await socket.frame()).toBe(push(channel, '{"key":"a","removed":true}'));
    socket.close();
    // Once nobody tracks a key any more, the backend isn't asked.
    await vi.waitFor(async () => {
      const before = await questions(channel);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect((await questions(channel)).asked).toBe(before.asked);
    }, patience);
  });

  it("[SP10] stores nothing for values, and sets one alarm in a minute", async () => {
    const channel = newChannel("quick");
    await backendSays(channel, values({ key: "a", data: 1 }));
    const socket = await tracking(variant, channel, "a");
    expect(await socket.line()).toContain('"data":1');
    const before = await costs(channel);
    for (let data = 2; data <= 6; data++) {
      await backendSays(channel, values({ key: "a", data }));
      expect(await socket.line()).toContain(`"data":${data}`);
    }
    const after = await costs(channel);
    expect(after).toEqual(before);
    const dueInMs = (after.alarmMs ?? 0) - Date.now();
    expect(dueInMs).toBeGreaterThan(0);
    expect(dueInMs).toBeLessThanOrEqual(pollLimits.pollAlarmMs);
  });

  it("[SP11] a backend publishes values, and ends an epoch", async () => {
    const channel = newChannel("slow");
    await backendSays(channel, values());
    const socket = await tracking(variant, channel, "a");
    const value = { channel, key: "a", data: { n: 1 }, version: 7 };
    expect(await call("shared_poll_publish", value)).toEqual({
      status: 200,
      body: '{"result":{}}',
    });
    expect(await socket.line()).toBe(push(channel, '{"data":{"n":1},"key":"a","version":7}'));
    await call("shared_poll_publish", { ...value, version: 6 });
    await call("shared_poll_publish", { ...value, version: 8, data: 2 });
    expect(await socket.line()).toBe(push(channel, '{"data":2,"key":"a","version":8}'));
    await call("shared_poll_publish", { ...value, version: 1, epoch: "new" });
    expect(await socket.line()).toBe(ended(channel));
    const off = { ...value, channel: newChannel("quick") };
    expect((await call("shared_poll_publish", off)).body).toContain('"code":108');
    expect((await call("shared_poll_publish", { ...value, channel: "stream:x" })).body).toContain(
      '"code":107',
    );
    expect((await call("publish", { channel, data: 1 })).body).toContain('"code":107');
  });
});

const onGateways = awakeVariants.filter(({ place }) => place.name !== "a channel's socket");

describe.each(onGateways)("a gateway's clients, on $place.name", (variant) => {
  it("[SP20] track their keys after the gateway has hibernated, from one row each", async () => {
    const channel = newChannel("slow");
    await backendSays(channel, values());
    const socket = await tracking(variant, channel, "a", "b");
    const holder = variant.place.holder(channel);
    expect(await trackRows(holder)).toHaveLength(1);
    await evictDurableObject(holder, { webSockets: "hibernate" });
    await call("shared_poll_publish", { channel, key: "b", data: 1, version: 1 });
    expect(await socket.line()).toBe(push(channel, '{"data":1,"key":"b","version":1}'));
    await evictDurableObject(holder, { webSockets: "hibernate" });
    socket.send({ id: 4, sub_refresh: { channel, type: 2, untrack: ["b"] } });
    expect(await socket.line()).toBe(`{"id":4,"sub_refresh":{}}`);
    await call("shared_poll_publish", { channel, key: "b", data: 2, version: 2 });
    await call("shared_poll_publish", { channel, key: "a", data: 1, version: 1 });
    expect(await socket.line()).toBe(push(channel, '{"data":1,"key":"a","version":1}'));
    await socket.ask({ id: 5, unsubscribe: { channel } });
    expect(await trackRows(holder)).toEqual([]);
  });

  it("[SP8][SP10] are told, by an alarm, that the channel's object has lost its memory", async () => {
    const channel = newChannel("slow");
    await backendSays(channel, values({ key: "a", data: 1, version: 1 }));
    const socket = await tracking(variant, channel, "a");
    expect(await socket.line()).toContain('"version":1');
    await crashObject(env.CHANNELS.getByName(channel));
    expect(await runDurableObjectAlarm(env.CHANNELS.getByName(channel))).toBe(true);
    expect(await socket.line()).toBe(ended(channel));
    await socket.ask({ id: 6, subscribe: { channel, type: 4 } });
    socket.send(await track(channel, ["a"]));
    expect(await socket.line()).toBe(`{"id":3,"sub_refresh":{}}`);
    expect(await socket.line()).toBe(push(channel, '{"data":1,"key":"a","version":1}'));
  });
});

it("[B7] a client whose signatures take too long to verify is disconnected", async () => {
  const channel = newChannel("quick");
  const [variant] = awakeVariants;
  const socket = await variant?.connect(channel, "ada");
  if (socket === undefined) throw new Error("no variant");
  await socket.ask({ id: 2, subscribe: { channel, type: 4 } });
  const batch = { signature: "", items: [] };
  // A frame of 64 KiB holds them; each costs a part of a token.
  const batches = Array.from({ length: limits.trackBatchesMax }, () => batch);
  const frame = { id: 3, sub_refresh: { channel, type: 1, track: batches } };
  const perFrame = Math.ceil(limits.trackBatchesMax / limits.signaturesPerToken);
  const frames = Math.ceil(limits.subscribesBurst / perFrame) + 10;
  // However slow the machine is, the frames come in one moment: none of the rate comes back meanwhile.
  vi.spyOn(Date, "now").mockReturnValue(Date.now());
  for (let sent = 0; sent < frames; sent++) socket.send(frame);
  expect(await socket.closed).toMatchObject({ code: 3013 });
  vi.restoreAllMocks();
});
