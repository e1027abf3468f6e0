import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { version } from "../../../src/version.ts";
import { newChannel } from "../support/new-channel.ts";
import { everyVariant } from "../support/variant.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";

const badRequest = { code: 3501, reason: "bad request" };
const invalidToken = { code: 3500, reason: "invalid token" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(everyVariant)("a connection on $name", (variant) => {
  it("[C1][W1] is answered with its ID, the version and the interval of pings", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada" }), name: "js" } });
    expect(await socket.line()).toMatch(
      new RegExp(
        `^\\{"id":1,"connect":\\{"client":"[-0-9a-f]{36}","version":"${version}","ping":25,"pong":true\\}\\}$`,
      ),
    );
    await variant.betweenSteps(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[C5][W1] that ends is told how many seconds it has", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    const claims = { sub: "ada", exp: secondsFromNow(101) };
    socket.send({ id: 1, connect: { token: await token(claims) } });
    expect(await socket.line()).toMatch(/"expires":true,"ttl":10[01],"ping":25,"pong":true\}\}$/);
  });

  it("[C1] closes 3501 at a first command that isn't connect, and at a second connect", async () => {
    const channel = newChannel("room");
    const first = await variant.open(channel);
    const pong = await variant.open(channel);
    const second = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    first.send({ id: 1, subscribe: { channel } });
    expect(await first.closed).toStrictEqual(badRequest);
    await variant.betweenSteps(channel);
    pong.sendFrame("{}\n");
    expect(await pong.closed).toStrictEqual(badRequest);
    await variant.betweenSteps(channel);
    second.send({ id: 2, connect: { token: await token({ sub: "ada" }) } });
    expect(await second.closed).toStrictEqual(badRequest);
    await variant.betweenSteps(channel);
  });

  it("[C2] closes 3502 when no connect has come within the stale delay", async () => {
    const channel = newChannel("room");
    const openedMs = Date.now();
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, openedMs + 9_999);
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, openedMs + 10_000);
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    await variant.betweenSteps(channel);
  });

  it("[C3] closes 3501 without credentials and 3500 with an invalid token", async () => {
    const channel = newChannel("room");
    const none = await variant.open(channel);
    const invalid = await variant.open(channel);
    const wrongKind = await variant.open(channel);
    await variant.betweenSteps(channel);
    none.send({ id: 1, connect: {} });
    expect(await none.closed).toStrictEqual(badRequest);
    await variant.betweenSteps(channel);
    invalid.send({ id: 1, connect: { token: await token({ sub: "ada" }, "another secret") } });
    expect(await invalid.closed).toStrictEqual(invalidToken);
    await variant.betweenSteps(channel);
    wrongKind.send({ id: 1, connect: { token: await token({ sub: "ada", channel }) } });
    expect(await wrongKind.closed).toStrictEqual(invalidToken);
    expect(await wrongKind.rest()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[C3][C4] answers an expired token 109, then nothing, and closes 3502", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    const expired = await token({ sub: "ada", exp: secondsFromNow(-1) });
    socket.send({ id: 1, connect: { token: expired } });
    expect(await socket.line()).toBe('{"id":1,"error":{"code":109,"message":"token expired"}}');
    await variant.betweenSteps(channel);
    socket.send(
      { id: 2, subscribe: { channel } },
      { id: 3, connect: { token: await token({ sub: "ada" }) } },
    );
    await variant.betweenSteps(channel);
    await variant.runAlarmWhenDue(channel);
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    expect(await socket.rest()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[C5] closes 3005 a while after the credentials' end, unless they were refreshed", async () => {
    const channel = newChannel("room");
    const exp = secondsFromNow(30);
    // Without pings, so that the alarm is set for the expiry.
    const [lasting, refreshed] = [
      await variant.connect(channel, "ada", { exp }, "?keepalive=client"),
      await variant.connect(channel, "bob", { exp }, "?keepalive=client"),
    ];
    await variant.betweenSteps(channel);
    const fresh = await token({ sub: "bob", exp: secondsFromNow(3_600) });
    refreshed.send({ id: 2, refresh: { token: fresh } });
    expect(await refreshed.line()).toMatch(
      /^\{"id":2,"refresh":\{"expires":true,"ttl":(3600|359\d)\}\}$/,
    );
    await variant.betweenSteps(channel);
    const endsMs = (exp + 25) * 1_000;
    await variant.runAlarmAt(channel, endsMs - 1);
    expect(await lasting.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, endsMs);
    expect(await lasting.closed).toStrictEqual({ code: 3005, reason: "connection expired" });
    expect(await refreshed.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
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
      const socket = await variant.connect(channel, "ada");
      await variant.betweenSteps(channel);
      socket.send({ id: 2, refresh: { token: refresh } });
      expect(await socket.closed).toStrictEqual(closing);
      expect(await socket.rest()).toStrictEqual([]);
      await variant.betweenSteps(channel);
    }
  });

  it("[W1] answers or closes for unavailable commands, as Centrifugo does", async () => {
    const channel = newChannel("room");
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    socket.send({ id: 2, rpc: { method: "ping", data: {} } });
    expect(await socket.line()).toBe('{"id":2,"error":{"code":108,"message":"not available"}}');
    await variant.betweenSteps(channel);
    socket.send({ send: { data: 1 } });
    expect(await socket.closed).toStrictEqual({ code: 3508, reason: "not available" });
    const pinging = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    pinging.send({ id: 2, ping: {} });
    expect(await pinging.closed).toStrictEqual(badRequest);
    await variant.betweenSteps(channel);
  });
});

describe.each(everyVariant.filter(({ place }) => place.oneChannel))(
  "a connection on $name",
  (variant) => {
    it("[C6] answers 102 to every other channel's name", async () => {
      const channel = newChannel("room");
      const socket = await variant.connect(channel, "ada");
      await variant.betweenSteps(channel);
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
      await variant.betweenSteps(channel);
    });
  },
);
