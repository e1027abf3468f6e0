import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { call } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { places } from "./place.ts";
import { settings } from "./setting.ts";
import { TestSocket } from "./test-socket.ts";
import { token } from "./token.ts";

const noPong = { code: 3012, reason: "no pong" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(settings)("a server-driven connection on $name", (setting) => {
  it("[K1] is pinged at each interval, and stays while it answers", async () => {
    const channel = newChannel("plain");
    const openedMs = Date.now();
    const socket = await setting.subscribe(channel, "ada");
    // The first alarm is for a connect that might never have come.
    expect(await setting.ringWhenDue(channel)).toBe(openedMs + 10_000);
    for (const interval of [1, 2, 3, 4]) {
      await setting.pause(channel);
      expect(await setting.ringWhenDue(channel)).toBe(openedMs + interval * 25_000);
      expect(await socket.frame()).toBe("{}");
      await setting.pause(channel);
      socket.sendFrame("{}");
      expect(await socket.unread()).toStrictEqual([]);
    }
    await setting.pause(channel);
  });

  it("[K1] shares one tick with the others, whenever they came", async () => {
    const channel = newChannel("plain");
    const early = await setting.subscribe(channel, "ada");
    vi.setSystemTime(Date.now() + 12_000);
    const late = await setting.subscribe(channel, "bob");
    vi.setSystemTime(Date.now() + 1_000);
    const latest = await setting.subscribe(channel, "cyd");
    await setting.ringWhenDue(channel);
    await setting.pause(channel);
    await setting.ringWhenDue(channel);
    expect(await early.frame()).toBe("{}");
    expect(await late.frame()).toBe("{}");
    // The last one has been heard within half an interval.
    expect(await latest.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[K2] closes 3012 when its ping isn't answered by the next", async () => {
    const channel = newChannel("plain");
    const silent = await setting.subscribe(channel, "ada");
    await setting.ringWhenDue(channel);
    await setting.pause(channel);
    const pingedMs = await setting.ringWhenDue(channel);
    expect(await silent.frame()).toBe("{}");
    await setting.pause(channel);
    expect(await setting.ringWhenDue(channel)).toBe(pingedMs + 25_000);
    expect(await silent.closed).toStrictEqual(noPong);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
    await setting.pause(channel);
  });

  it("[K2] closes 3501 for a pong that nobody asked for, and for a second one", async () => {
    const channel = newChannel("plain");
    const [unasked, twice] = [
      await setting.subscribe(channel, "ada"),
      await setting.subscribe(channel, "bob"),
    ];
    await setting.pause(channel);
    unasked.sendFrame("{}");
    expect(await unasked.closed).toStrictEqual({ code: 3501, reason: "bad request" });
    await setting.ringWhenDue(channel);
    await setting.pause(channel);
    await setting.ringWhenDue(channel);
    expect(await twice.frame()).toBe("{}");
    await setting.pause(channel);
    twice.sendFrame("{}");
    await setting.pause(channel);
    twice.sendFrame("{}");
    expect(await twice.closed).toStrictEqual({ code: 3501, reason: "bad request" });
    await setting.pause(channel);
  });
});

describe.each(settings)("a client-driven connection on $name", (setting) => {
  it("[K3] isn't asked for pongs", async () => {
    const channel = newChannel("plain");
    const socket = await setting.open(channel, "?keepalive=client");
    await setting.pause(channel);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    expect(await socket.line()).toMatch(/"ping":25\}\}$/);
    await setting.pause(channel);
  });

  it("[K4] that fell silent is closed at the next wake and isn't present; one that pings is", async () => {
    // The runtime notes its answers by its own clock, which the test's must therefore not leave behind.
    const nowMs = Date.now();
    vi.setSystemTime(nowMs - 60_001);
    const channel = newChannel("plain");
    const [silent, heard] = [
      await setting.connect(channel, "ada", {}, "?keepalive=client"),
      await setting.connect(channel, "ada", {}, "?keepalive=client"),
    ];
    await silent.ask({ id: 2, subscribe: { channel } });
    await heard.ask({ id: 2, subscribe: { channel } });
    heard.sendFrame("ping");
    expect(await heard.frame()).toBe("pong");
    await setting.pause(channel);
    vi.setSystemTime(nowMs - 1);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":2');
    await setting.pause(channel);
    vi.setSystemTime(nowMs);
    expect((await call("presence", { channel })).body).toBe(
      `{"result":{"presence":{"${heard.client}":{"user":"ada","client":"${heard.client}"}}}}`,
    );
    expect(await silent.closed).toStrictEqual(noPong);
    expect(await heard.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[K4] is not closed for silence while the others are swept, until two intervals and 10 s have passed", async () => {
    const channel = newChannel("plain");
    const openedMs = Date.now();
    const socket = await setting.connect(channel, "ada", {}, "?keepalive=client");
    await setting.pause(channel);
    vi.setSystemTime(openedMs + 60_000);
    expect(await socket.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });
});

describe.each(places)("a sleeping object with $name", (place) => {
  it("[K3] isn't woken by a ping, which is answered all the same", async () => {
    const channel = newChannel("plain");
    const socket = TestSocket.on(await place.upgrade(channel, "?keepalive=client"));
    await socket.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    const holder = place.holder(channel);
    await evictDurableObject(holder, { webSockets: "hibernate" });
    socket.sendFrame("ping");
    expect(await socket.frame()).toBe("pong");
    await expect(evictDurableObject(holder)).rejects.toThrow(/not.*running/i);
    expect(await socket.unread()).toStrictEqual([]);
    await evictDurableObject(holder, { webSockets: "hibernate" });
  });
});
