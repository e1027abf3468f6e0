import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { call } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { TestSocket } from "./test-socket.ts";
import { token } from "./token.ts";
import { wakefulness } from "./wakefulness.ts";

const noPong = { code: 3012, reason: "no pong" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets time pass until the object's alarm is due, and has it ring. */
async function ringWhenDue(channel: string): Promise<number> {
  const stub = env.CHANNELS.getByName(channel);
  const dueMs = await runInDurableObject(stub, (_, state) => state.storage.getAlarm());
  if (dueMs === null) throw new Error("no alarm is set");
  vi.setSystemTime(Math.max(dueMs, Date.now()));
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  return Date.now();
}

/** Connects a client that sends the pings itself. */
async function connectClientDriven(channel: string): Promise<TestSocket> {
  const socket = await TestSocket.open(channel, "?keepalive=client");
  await socket.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
  return socket;
}

describe.each(wakefulness)("a server-driven connection to an object $name", ({ pause }) => {
  it("[K1] is pinged at each interval, and stays while it answers", async () => {
    const channel = newChannel("plain");
    const openedMs = Date.now();
    const socket = await TestSocket.subscribe(channel, "ada");
    // The first alarm is for a connect that might never have come.
    expect(await ringWhenDue(channel)).toBe(openedMs + 10_000);
    for (const interval of [1, 2, 3, 4]) {
      await pause(channel);
      expect(await ringWhenDue(channel)).toBe(openedMs + interval * 25_000);
      expect(await socket.frame()).toBe("{}");
      await pause(channel);
      socket.sendFrame("{}");
      expect(await socket.unread()).toStrictEqual([]);
    }
    await pause(channel);
  });

  it("[K1] shares one tick with the others, whenever they came", async () => {
    const channel = newChannel("plain");
    const early = await TestSocket.subscribe(channel, "ada");
    vi.setSystemTime(Date.now() + 12_000);
    const late = await TestSocket.subscribe(channel, "bob");
    vi.setSystemTime(Date.now() + 1_000);
    const latest = await TestSocket.subscribe(channel, "cyd");
    await ringWhenDue(channel);
    await pause(channel);
    await ringWhenDue(channel);
    expect(await early.frame()).toBe("{}");
    expect(await late.frame()).toBe("{}");
    // The last one has been heard within half an interval.
    expect(await latest.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[K2] closes 3012 when its ping isn't answered by the next", async () => {
    const channel = newChannel("plain");
    const silent = await TestSocket.subscribe(channel, "ada");
    await ringWhenDue(channel);
    await pause(channel);
    const pingedMs = await ringWhenDue(channel);
    expect(await silent.frame()).toBe("{}");
    await pause(channel);
    expect(await ringWhenDue(channel)).toBe(pingedMs + 25_000);
    expect(await silent.closed).toStrictEqual(noPong);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
    await pause(channel);
  });

  it("[K2] closes 3501 for a pong that nobody asked for, and for a second one", async () => {
    const channel = newChannel("plain");
    const [unasked, twice] = [
      await TestSocket.subscribe(channel, "ada"),
      await TestSocket.subscribe(channel, "bob"),
    ];
    await pause(channel);
    unasked.sendFrame("{}");
    expect(await unasked.closed).toStrictEqual({ code: 3501, reason: "bad request" });
    await ringWhenDue(channel);
    await pause(channel);
    await ringWhenDue(channel);
    expect(await twice.frame()).toBe("{}");
    await pause(channel);
    twice.sendFrame("{}");
    await pause(channel);
    twice.sendFrame("{}");
    expect(await twice.closed).toStrictEqual({ code: 3501, reason: "bad request" });
    await pause(channel);
  });
});

describe.each(wakefulness)("a client-driven connection to an object $name", ({ pause }) => {
  it("[K3] isn't asked for pongs", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.open(channel, "?keepalive=client");
    await pause(channel);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    expect(await socket.line()).toMatch(/"ping":25\}\}$/);
    await pause(channel);
  });

  it("[K4] that fell silent is closed at the next wake and isn't present; one that pings is", async () => {
    // The runtime notes its answers by its own clock, which the test's must therefore not leave behind.
    const nowMs = Date.now();
    vi.setSystemTime(nowMs - 60_001);
    const channel = newChannel("plain");
    const [silent, heard] = [
      await connectClientDriven(channel),
      await connectClientDriven(channel),
    ];
    await silent.ask({ id: 2, subscribe: { channel } });
    await heard.ask({ id: 2, subscribe: { channel } });
    heard.sendFrame("ping");
    expect(await heard.frame()).toBe("pong");
    await pause(channel);
    vi.setSystemTime(nowMs - 1);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":2');
    await pause(channel);
    vi.setSystemTime(nowMs);
    expect((await call("presence", { channel })).body).toBe(
      `{"result":{"presence":{"${heard.client}":{"user":"ada","client":"${heard.client}"}}}}`,
    );
    expect(await silent.closed).toStrictEqual(noPong);
    expect(await heard.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[K4] is not closed for silence while the others are swept, until two intervals and 10 s have passed", async () => {
    const channel = newChannel("plain");
    const socket = await connectClientDriven(channel);
    await pause(channel);
    vi.setSystemTime(Date.now() + 60_000);
    expect(await socket.unread()).toStrictEqual([]);
    await pause(channel);
  });
});

describe("a sleeping object", () => {
  it("[K3] isn't woken by a ping, which is answered all the same", async () => {
    const channel = newChannel("plain");
    const socket = await connectClientDriven(channel);
    const stub = env.CHANNELS.getByName(channel);
    await evictDurableObject(stub, { webSockets: "hibernate" });
    socket.sendFrame("ping");
    expect(await socket.frame()).toBe("pong");
    await expect(evictDurableObject(stub)).rejects.toThrow(/not.*running/i);
    expect(await socket.unread()).toStrictEqual([]);
    await evictDurableObject(stub, { webSockets: "hibernate" });
  });
});
