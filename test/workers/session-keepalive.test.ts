import { evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { call } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { places } from "./place.ts";
import { variants } from "./variant.ts";
import { TestSocket } from "./test-socket.ts";
import { token } from "./sign-token.ts";

const noPong = { code: 3012, reason: "no pong" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(variants)("a server-driven connection on $name", (variant) => {
  it("[K1] is pinged at each interval, and stays while it answers", async () => {
    const channel = newChannel("plain");
    const openedMs = Date.now();
    const socket = await variant.subscribe(channel, "ada");
    // The first alarm is for a connect that might never have come.
    expect(await variant.runAlarmWhenDue(channel)).toBe(openedMs + 10_000);
    for (const interval of [1, 2, 3, 4]) {
      await variant.betweenSteps(channel);
      expect(await variant.runAlarmWhenDue(channel)).toBe(openedMs + interval * 25_000);
      expect(await socket.frame()).toBe("{}");
      await variant.betweenSteps(channel);
      socket.sendFrame("{}");
      expect(await socket.unread()).toStrictEqual([]);
    }
    await variant.betweenSteps(channel);
  });

  it("[K1] shares one tick with the others, whenever they came", async () => {
    const channel = newChannel("plain");
    const early = await variant.subscribe(channel, "ada");
    vi.setSystemTime(Date.now() + 12_000);
    const late = await variant.subscribe(channel, "bob");
    vi.setSystemTime(Date.now() + 1_000);
    const latest = await variant.subscribe(channel, "cyd");
    await variant.runAlarmWhenDue(channel);
    await variant.betweenSteps(channel);
    await variant.runAlarmWhenDue(channel);
    expect(await early.frame()).toBe("{}");
    expect(await late.frame()).toBe("{}");
    // The last client has sent something within half an interval.
    expect(await latest.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[K2] closes 3012 when its ping isn't answered by the next", async () => {
    const channel = newChannel("plain");
    const silent = await variant.subscribe(channel, "ada");
    await variant.runAlarmWhenDue(channel);
    await variant.betweenSteps(channel);
    const pingedMs = await variant.runAlarmWhenDue(channel);
    expect(await silent.frame()).toBe("{}");
    await variant.betweenSteps(channel);
    expect(await variant.runAlarmWhenDue(channel)).toBe(pingedMs + 25_000);
    expect(await silent.closed).toStrictEqual(noPong);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
    await variant.betweenSteps(channel);
  });

  it("[K2] closes 3501 for a pong that nobody asked for, and for a second one", async () => {
    const channel = newChannel("plain");
    const [unasked, twice] = [
      await variant.subscribe(channel, "ada"),
      await variant.subscribe(channel, "bob"),
    ];
    await variant.betweenSteps(channel);
    unasked.sendFrame("{}");
    expect(await unasked.closed).toStrictEqual({ code: 3501, reason: "bad request" });
    await variant.runAlarmWhenDue(channel);
    await variant.betweenSteps(channel);
    await variant.runAlarmWhenDue(channel);
    expect(await twice.frame()).toBe("{}");
    await variant.betweenSteps(channel);
    twice.sendFrame("{}");
    await variant.betweenSteps(channel);
    twice.sendFrame("{}");
    expect(await twice.closed).toStrictEqual({ code: 3501, reason: "bad request" });
    await variant.betweenSteps(channel);
  });
});

describe.each(variants)("a client-driven connection on $name", (variant) => {
  it("[K3] isn't asked for pongs", async () => {
    const channel = newChannel("plain");
    const socket = await variant.open(channel, "?keepalive=client");
    await variant.betweenSteps(channel);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    expect(await socket.line()).toMatch(/"ping":25\}\}$/);
    await variant.betweenSteps(channel);
  });

  it("[K4] that fell silent is closed at the next wake and isn't present; one that pings is", async () => {
    // The runtime notes its answers by its own clock, which the test's must therefore not leave behind.
    const nowMs = Date.now();
    vi.setSystemTime(nowMs - 60_001);
    const channel = newChannel("plain");
    const [silent, received] = [
      await variant.connect(channel, "ada", {}, "?keepalive=client"),
      await variant.connect(channel, "ada", {}, "?keepalive=client"),
    ];
    await silent.ask({ id: 2, subscribe: { channel } });
    await received.ask({ id: 2, subscribe: { channel } });
    received.sendFrame("ping");
    expect(await received.frame()).toBe("pong");
    await variant.betweenSteps(channel);
    vi.setSystemTime(nowMs - 1);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":2');
    await variant.betweenSteps(channel);
    vi.setSystemTime(nowMs);
    expect((await call("presence", { channel })).body).toBe(
      `{"result":{"presence":{"${received.client}":{"user":"ada","client":"${received.client}"}}}}`,
    );
    expect(await silent.closed).toStrictEqual(noPong);
    expect(await received.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[K4] is not closed for silence while the others are swept, until two intervals and 10 s have passed", async () => {
    const channel = newChannel("plain");
    const openedMs = Date.now();
    const socket = await variant.connect(channel, "ada", {}, "?keepalive=client");
    await variant.betweenSteps(channel);
    vi.setSystemTime(openedMs + 60_000);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
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
