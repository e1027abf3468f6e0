import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { version } from "../../src/version.ts";
import { newChannel } from "./new-channel.ts";
import { TestSocket } from "./test-socket.ts";
import { secondsFromNow, token } from "./token.ts";
import { wakefulness } from "./wakefulness.ts";

const badRequest = { code: 3501, reason: "bad request" };
const invalidToken = { code: 3500, reason: "invalid token" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets time pass and the object's alarm ring. */
async function ring(channel: string, afterMs: number): Promise<void> {
  vi.setSystemTime(Date.now() + afterMs);
  expect(await runDurableObjectAlarm(env.CHANNELS.getByName(channel))).toBe(true);
}

describe.each(wakefulness)("a connection to an object $name", ({ pause }) => {
  it("[C1][W1] is answered with its ID, the version and the interval of pings", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.open(channel);
    await pause(channel);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada" }), name: "js" } });
    expect(await socket.line()).toMatch(
      new RegExp(
        `^\\{"id":1,"connect":\\{"client":"[-0-9a-f]{36}","version":"${version}","ping":25,"pong":true\\}\\}$`,
      ),
    );
    await pause(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[C5][W1] that ends is told how many seconds it has", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.open(channel);
    await pause(channel);
    const claims = { sub: "ada", exp: secondsFromNow(101) };
    socket.send({ id: 1, connect: { token: await token(claims) } });
    expect(await socket.line()).toMatch(/"expires":true,"ttl":10[01],"ping":25,"pong":true\}\}$/);
  });

  it("[C1] closes 3501 at a first command that isn't connect, and at a second connect", async () => {
    const channel = newChannel("room");
    const first = await TestSocket.open(channel);
    const pong = await TestSocket.open(channel);
    const second = await TestSocket.connect(channel, "ada");
    await pause(channel);
    first.send({ id: 1, subscribe: { channel } });
    expect(await first.closed).toStrictEqual(badRequest);
    await pause(channel);
    pong.send({});
    expect(await pong.closed).toStrictEqual(badRequest);
    await pause(channel);
    second.send({ id: 2, connect: { token: await token({ sub: "ada" }) } });
    expect(await second.closed).toStrictEqual(badRequest);
    await pause(channel);
  });

  it("[C2] closes 3502 when no connect has come within the stale delay", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.open(channel);
    await pause(channel);
    await ring(channel, 9_999);
    await pause(channel);
    await ring(channel, 1);
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    await pause(channel);
  });

  it("[C3] closes 3501 without credentials and 3500 with an invalid token", async () => {
    const channel = newChannel("room");
    const none = await TestSocket.open(channel);
    const invalid = await TestSocket.open(channel);
    const wrongKind = await TestSocket.open(channel);
    await pause(channel);
    none.send({ id: 1, connect: {} });
    expect(await none.closed).toStrictEqual(badRequest);
    await pause(channel);
    invalid.send({ id: 1, connect: { token: await token({ sub: "ada" }, "another secret") } });
    expect(await invalid.closed).toStrictEqual(invalidToken);
    await pause(channel);
    wrongKind.send({ id: 1, connect: { token: await token({ sub: "ada", channel }) } });
    expect(await wrongKind.closed).toStrictEqual(invalidToken);
    expect(await wrongKind.rest()).toStrictEqual([]);
    await pause(channel);
  });

  it("[C3][C4] answers an expired token 109, then nothing, and closes 3502", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.open(channel);
    await pause(channel);
    const expired = await token({ sub: "ada", exp: secondsFromNow(-1) });
    socket.send({ id: 1, connect: { token: expired } });
    expect(await socket.line()).toBe('{"id":1,"error":{"code":109,"message":"token expired"}}');
    await pause(channel);
    socket.send(
      { id: 2, subscribe: { channel } },
      { id: 3, connect: { token: await token({ sub: "ada" }) } },
    );
    await pause(channel);
    await ring(channel, 10_000);
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    expect(await socket.rest()).toStrictEqual([]);
    await pause(channel);
  });

  it("[C5] closes 3005 a while after the credentials' end, unless they were refreshed", async () => {
    const channel = newChannel("room");
    const exp = secondsFromNow(30);
    // Without pings, so that the end is what the alarm is set for.
    const [lasting, refreshed] = [
      await TestSocket.open(channel, "?keepalive=client"),
      await TestSocket.open(channel, "?keepalive=client"),
    ];
    await lasting.ask({ id: 1, connect: { token: await token({ sub: "ada", exp }) } });
    await refreshed.ask({ id: 1, connect: { token: await token({ sub: "bob", exp }) } });
    await pause(channel);
    const fresh = await token({ sub: "bob", exp: secondsFromNow(3_600) });
    refreshed.send({ id: 2, refresh: { token: fresh } });
    expect(await refreshed.line()).toMatch(
      /^\{"id":2,"refresh":\{"expires":true,"ttl":(3599|3600)\}\}$/,
    );
    await pause(channel);
    vi.setSystemTime((exp + 25) * 1_000 - 1);
    await ring(channel, 0);
    expect(await lasting.unread()).toStrictEqual([]);
    await pause(channel);
    await ring(channel, 1);
    expect(await lasting.closed).toStrictEqual({ code: 3005, reason: "connection expired" });
    expect(await refreshed.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[C7] closes at a refresh that isn't its own user's, isn't good or comes too late", async () => {
    const channel = newChannel("room");
    for (const [refresh, closing] of [
      [await token({ sub: "eve" }), invalidToken],
      [await token({ sub: "ada" }, "another secret"), invalidToken],
      ["", badRequest],
      [
        await token({ sub: "ada", exp: secondsFromNow(-1) }),
        { code: 3005, reason: "connection expired" },
      ],
    ] as const) {
      const socket = await TestSocket.connect(channel, "ada");
      await pause(channel);
      socket.send({ id: 2, refresh: { token: refresh } });
      expect(await socket.closed).toStrictEqual(closing);
      expect(await socket.rest()).toStrictEqual([]);
      await pause(channel);
    }
  });

  it("[C6] answers 102 to every other channel's name", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.connect(channel, "ada");
    await pause(channel);
    const other = newChannel("room");
    for (const command of [
      { subscribe: { channel: other } },
      { publish: { channel: other, data: 1 } },
      { presence: { channel: other } },
      { presence_stats: { channel: other } },
      { history: { channel: other } },
      { subscribe: { channel: "no-such:channel" } },
    ]) {
      socket.send({ id: 9, ...command });
      expect(await socket.line()).toBe('{"id":9,"error":{"code":102,"message":"unknown channel"}}');
    }
    await pause(channel);
  });

  it("[W1] answers or closes for what there is not, as Centrifugo does", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.connect(channel, "ada");
    await pause(channel);
    socket.send({ id: 2, rpc: { method: "ping", data: {} } });
    expect(await socket.line()).toBe('{"id":2,"error":{"code":108,"message":"not available"}}');
    await pause(channel);
    socket.send({ send: { data: 1 } });
    expect(await socket.closed).toStrictEqual({ code: 3508, reason: "not available" });
    const pinging = await TestSocket.connect(channel, "ada");
    await pause(channel);
    pinging.send({ id: 2, ping: {} });
    expect(await pinging.closed).toStrictEqual(badRequest);
    await pause(channel);
  });
});
