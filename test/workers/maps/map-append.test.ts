import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { crashObject } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { channelPlace } from "../support/place.ts";
import { awakeVariants, type Variant, variants } from "../support/variant.ts";

const open = {
  subscription_type: "map",
  allow_subscribe_for_client: true,
  allowed_delta_types: ["fossil"],
};
configure({
  ...testConfig,
  channel: {
    namespaces: [
      { ...open, name: "safe", map: { mode: "persistent", append_window: "0s" } },
      { ...open, name: "short", map: { mode: "persistent", append_window: "50ms" } },
      { ...open, name: "long", map: { mode: "persistent", append_window: "10s" } },
      { ...open, name: "brief", map: { mode: "ephemeral", key_ttl: "10m", append_window: "50ms" } },
    ],
  },
});

interface Appended {
  readonly length: number;
  readonly offset?: number;
  readonly epoch?: string;
  readonly suppressed?: boolean;
  readonly suppress_reason?: string;
}

async function append(channel: string, text: string, more: object = {}): Promise<Appended> {
  const { body } = await call("map_append", { channel, key: "answer", text, ...more });
  const { result }: { result?: Appended } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

/** A client that has read the map, with deltas. */
async function reading(variant: Variant, channel: string, delta = true): Promise<TestSocket> {
  const socket = await variant.connect(channel, "ada");
  const deltas = delta ? { delta: "fossil" } : {};
  await socket.ask({ id: 2, subscribe: { channel, type: 1, phase: 2, flag: 1, ...deltas } });
  return socket;
}

interface Pushed {
  readonly pub?: { readonly data: string; readonly offset?: number; readonly delta?: boolean };
  readonly unsubscribe?: { readonly code: number };
}

/** The next push; pings before it are answered. */
async function pushed(socket: TestSocket): Promise<Pushed> {
  for (;;) {
    const { push } = await socket.next();
    if (push !== undefined) return push;
    socket.send({});
  }
}

async function rowsOf(channel: string, step: () => Promise<unknown>): Promise<number> {
  const stub = env.CHANNELS.getByName(channel);
  const rows = () => runInDurableObject(stub, ({ sql }) => sql.rowsWritten);
  const before = await rows();
  await step();
  return (await rows()) - before;
}

describe.each(variants)("a value that grows, on $name", (variant) => {
  it("[Z38] [Z39] is told piece by piece, each with its offset, if windows last 0 seconds", async () => {
    const channel = newChannel("safe");
    expect(await append(channel, "Hé", { at: 0 })).toMatchObject({ length: 2, offset: 1 });
    const socket = await reading(variant, channel);
    await variant.betweenSteps(channel);
    expect(await append(channel, '"llo', { at: 2 })).toMatchObject({ length: 6, offset: 2 });
    // `"Hé` is copied, `\"llo` is put in, and the quote is copied.
    expect((await pushed(socket)).pub).toMatchObject({
      data: expect.stringMatching(/^A\n4@0,5:\\"llo1@4,\w+;$/),
      offset: 2,
      delta: true,
    });
    await variant.betweenSteps(channel);
    expect(await append(channel, "!", { at: 2 })).toEqual({
      length: 6,
      suppressed: true,
      suppress_reason: "length_mismatch",
    });
    await variant.betweenSteps(channel);
    expect(await append(channel, "!", { at: 6, final: true })).toMatchObject({
      length: 7,
      offset: 3,
    });
    expect((await pushed(socket)).pub).toMatchObject({ offset: 3, delta: true });
    await variant.betweenSteps(channel);
    expect(await append(channel, "?")).toMatchObject({ suppress_reason: "final" });
    const other = await variant.connect(channel, "bob");
    const state = await other.ask({ id: 2, subscribe: { channel, type: 1, phase: 2, flag: 1 } });
    expect(state).toMatchObject({
      subscribe: { state: [{ key: "answer", data: 'Hé"llo!', offset: 3 }] },
    });
    await variant.betweenSteps(channel);
  });
});

describe.each(awakeVariants)("within a window, on $name", (variant) => {
  it("[Z39] [Z40] pieces are told without an offset, and the change that makes them durable has one", async () => {
    const channel = newChannel("long");
    const { epoch } = await append(channel, "a");
    const delta = await reading(variant, channel);
    const plain = await reading(variant, channel, false);
    for (const [at, text] of ["b", "c"].entries()) {
      const appended = await append(channel, text, { at: at + 1 });
      expect(appended).toEqual({ length: at + 2, offset: 1, epoch });
      const { pub } = await pushed(delta);
      expect(pub).toMatchObject({ data: expect.stringContaining(`1:${text}`), delta: true });
      expect(pub?.offset).toBeUndefined();
    }
    await append(channel, "d", { at: 3, final: true });
    expect((await pushed(delta)).pub).toMatchObject({
      data: expect.stringContaining("1:d"),
      offset: 2,
      delta: true,
    });
    expect((await pushed(plain)).pub).toMatchObject({ data: "abcd", offset: 2 });
  });

  it("[Z41] what was told is taken back by a crash, and everybody is told", async () => {
    const channel = newChannel("long");
    const { epoch = "" } = await append(channel, "a");
    const socket = await reading(variant, channel);
    await append(channel, "b", { at: 1 });
    expect((await pushed(socket)).pub).toMatchObject({ delta: true });
    const isOwn = variant.place.holder(channel).id.equals(env.CHANNELS.getByName(channel).id);
    await crashObject(env.CHANNELS.getByName(channel));
    expect(await append(channel, "c", { at: 2 })).toEqual({
      length: 1,
      suppressed: true,
      suppress_reason: "length_mismatch",
    });
    // A socket of the channel's own object was closed with it.
    const told = isOwn ? { unsubscribe: { code: 2500 } } : await pushed(socket);
    expect(told).toMatchObject({ unsubscribe: { code: 2500 } });
    const again = await append(channel, "bc", { at: 1 });
    expect([again.length, again.epoch === epoch]).toEqual([3, false]);
    const back = await variant.connect(channel, "ada");
    const since = { phase: 1, recover: true, offset: 1, epoch };
    expect(
      await back.ask({ id: 2, subscribe: { channel, type: 1, flag: 1, ...since } }),
    ).toMatchObject({ error: { code: 112 } });
    await append(channel, "", { at: 3, final: true });
    const state = await back.ask({ id: 3, subscribe: { channel, type: 1, phase: 2, flag: 1 } });
    expect(state).toMatchObject({ subscribe: { state: [{ data: "abc" }] } });
  });
});

describe.each(awakeVariants.filter(({ place }) => place !== channelPlace))(
  "a crash, on $name",
  (variant) => {
    it("[Z41] is told by the alarm if nobody asks", async () => {
      const channel = newChannel("long");
      await append(channel, "a");
      const socket = await reading(variant, channel);
      await append(channel, "b", { at: 1 });
      await pushed(socket);
      await crashObject(env.CHANNELS.getByName(channel));
      const stub = env.CHANNELS.getByName(channel);
      const dueMs = await runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
      expect(dueMs).toBeLessThan(Date.now() + 10_000);
      expect(await runDurableObjectAlarm(stub)).toBe(true);
      expect(await pushed(socket)).toMatchObject({ unsubscribe: { code: 2500 } });
    });
  },
);

describe("the rows of a value that grows", () => {
  it("[Z40] are those of a change at its first piece and at its end, and of a mark with its alarm between", async () => {
    const channel = newChannel("long");
    await append(channel, "a");
    expect(await rowsOf(channel, () => append(channel, "b"))).toBeLessThanOrEqual(3);
    for (let number = 0; number < 10; number++)
      expect(await rowsOf(channel, () => append(channel, "c"))).toBe(0);
    expect(await rowsOf(channel, () => append(channel, "d", { final: true }))).toBe(3);
    expect(await rowsOf(channel, () => append(channel, "x"))).toBe(0);
  });

  it("[Z41] [H5] of an acknowledged piece are there after a crash if windows last 0 seconds", async () => {
    const channel = newChannel("safe");
    const { epoch } = await append(channel, "a");
    await append(channel, "b");
    await crashObject(env.CHANNELS.getByName(channel));
    expect(await append(channel, "c", { at: 2 })).toEqual({ length: 3, offset: 3, epoch });
  });
});
