import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { version } from "../../src/version.ts";
import { newChannel } from "./new-channel.ts";
import { settings } from "./setting.ts";
import { secondsFromNow, token } from "./token.ts";

const badRequest = { code: 3501, reason: "bad request" };
const invalidToken = { code: 3500, reason: "invalid token" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(settings)("a connection on $name", (setting) => {
  it("[C1][W1] is answered with its ID, the version and the interval of pings", async () => {
    const channel = newChannel("room");
    const socket = await setting.open(channel);
    await setting.pause(channel);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada" }), name: "js" } });
    expect(await socket.line()).toMatch(
      new RegExp(
        `^\\{"id":1,"connect":\\{"client":"[-0-9a-f]{36}","version":"${version}","ping":25,"pong":true\\}\\}$`,
      ),
    );
    await setting.pause(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[C5][W1] that ends is told how many seconds it has", async () => {
    const channel = newChannel("room");
    const socket = await setting.open(channel);
    await setting.pause(channel);
    const claims = { sub: "ada", exp: secondsFromNow(101) };
    socket.send({ id: 1, connect: { token: await token(claims) } });
    expect(await socket.line()).toMatch(/"expires":true,"ttl":10[01],"ping":25,"pong":true\}\}$/);
  });

  it("[C1] closes 3501 at a first command that isn't connect, and at a second connect", async () => {
    const channel = newChannel("room");
    const first = await setting.open(channel);
    const pong = await setting.open(channel);
    const second = await setting.connect(channel, "ada");
    await setting.pause(channel);
    first.send({ id: 1, subscribe: { channel } });
    expect(await first.closed).toStrictEqual(badRequest);
    await setting.pause(channel);
    pong.send({});
    expect(await pong.closed).toStrictEqual(badRequest);
    await setting.pause(channel);
    second.send({ id: 2, connect: { token: await token({ sub: "ada" }) } });
    expect(await second.closed).toStrictEqual(badRequest);
    await setting.pause(channel);
  });

  it("[C2] closes 3502 when no connect has come within the stale delay", async () => {
    const channel = newChannel("room");
    const openedMs = Date.now();
    const socket = await setting.open(channel);
    await setting.pause(channel);
    await setting.ringAt(channel, openedMs + 9_999);
    await setting.pause(channel);
    await setting.ringAt(channel, openedMs + 10_000);
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    await setting.pause(channel);
  });

  it("[C3] closes 3501 without credentials and 3500 with an invalid token", async () => {
    const channel = newChannel("room");
    const none = await setting.open(channel);
    const invalid = await setting.open(channel);
    const wrongKind = await setting.open(channel);
    await setting.pause(channel);
    none.send({ id: 1, connect: {} });
    expect(await none.closed).toStrictEqual(badRequest);
    await setting.pause(channel);
    invalid.send({ id: 1, connect: { token: await token({ sub: "ada" }, "another secret") } });
    expect(await invalid.closed).toStrictEqual(invalidToken);
    await setting.pause(channel);
    wrongKind.send({ id: 1, connect: { token: await token({ sub: "ada", channel }) } });
    expect(await wrongKind.closed).toStrictEqual(invalidToken);
    expect(await wrongKind.rest()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[C3][C4] answers an expired token 109, then nothing, and closes 3502", async () => {
    const channel = newChannel("room");
    const socket = await setting.open(channel);
    await setting.pause(channel);
    const expired = await token({ sub: "ada", exp: secondsFromNow(-1) });
    socket.send({ id: 1, connect: { token: expired } });
    expect(await socket.line()).toBe('{"id":1,"error":{"code":109,"message":"token expired"}}');
    await setting.pause(channel);
    socket.send(
      { id: 2, subscribe: { channel } },
      { id: 3, connect: { token: await token({ sub: "ada" }) } },
    );
    await setting.pause(channel);
    await setting.ringWhenDue(channel);
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    expect(await socket.rest()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[C5] closes 3005 a while after the credentials' end, unless they were refreshed", async () => {
    const channel = newChannel("room");
    const exp = secondsFromNow(30);
    // Without pings, so that the end is what the alarm is set for.
    const [lasting, refreshed] = [
      await setting.connect(channel, "ada", { exp }, "?keepalive=client"),
      await setting.connect(channel, "bob", { exp }, "?keepalive=client"),
    ];
    await setting.pause(channel);
    const fresh = await token({ sub: "bob", exp: secondsFromNow(3_600) });
    refreshed.send({ id: 2, refresh: { token: fresh } });
    expect(await refreshed.line()).toMatch(
      /^\{"id":2,"refresh":\{"expires":true,"ttl":(3600|359\d)\}\}$/,
    );
    await setting.pause(channel);
    const endsMs = (exp + 25) * 1_000;
    await setting.ringAt(channel, endsMs - 1);
    expect(await lasting.unread()).toStrictEqual([]);
    await setting.pause(channel);
    await setting.ringAt(channel, endsMs);
    expect(await lasting.closed).toStrictEqual({ code: 3005, reason: "connection expired" });
    expect(await refreshed.unread()).toStrictEqual([]);
    await setting.pause(channel);
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
      const socket = await setting.connect(channel, "ada");
      await setting.pause(channel);
      socket.send({ id: 2, refresh: { token: refresh } });
      expect(await socket.closed).toStrictEqual(closing);
      expect(await socket.rest()).toStrictEqual([]);
      await setting.pause(channel);
    }
  });

  it("[W1] answers or closes for what there is not, as Centrifugo does", async () => {
    const channel = newChannel("room");
    const socket = await setting.connect(channel, "ada");
    await setting.pause(channel);
    socket.send({ id: 2, rpc: { method: "ping", data: {} } });
    expect(await socket.line()).toBe('{"id":2,"error":{"code":108,"message":"not available"}}');
    await setting.pause(channel);
    socket.send({ send: { data: 1 } });
    expect(await socket.closed).toStrictEqual({ code: 3508, reason: "not available" });
    const pinging = await setting.connect(channel, "ada");
    await setting.pause(channel);
    pinging.send({ id: 2, ping: {} });
    expect(await pinging.closed).toStrictEqual(badRequest);
    await setting.pause(channel);
  });
});

describe.each(settings.filter(({ place }) => place.oneChannel))(
  "a connection on $name",
  (setting) => {
    it("[C6] answers 102 to every other channel's name", async () => {
      const channel = newChannel("room");
      const socket = await setting.connect(channel, "ada");
      await setting.pause(channel);
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
        expect(await socket.line()).toBe(
          '{"id":9,"error":{"code":102,"message":"unknown channel"}}',
        );
      }
      await setting.pause(channel);
    });
  },
);
