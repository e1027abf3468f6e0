import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepaliveTexts } from "../../../src/contract/keepalive.ts";
import { beginAnswerClock, endAnswerClock } from "../support/answer-clock.ts";
import { call } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { places, requestUpgrade } from "../support/place.ts";
import { variants } from "../support/variant.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";

const noPong = { code: 3012, reason: "no pong" };

/** The platform's answer to `{}`. */
const { answer } = keepaliveTexts;

beforeEach(() => beginAnswerClock(env.CHANNELS.getByName("clock")));
afterEach(endAnswerClock);

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
      expect(await socket.unread()).toStrictEqual([answer]);
    }
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

  it("[K3] is answered when it sends an answer unasked, before connect too, and is closed as stale then", async () => {
    const channel = newChannel("plain");
    const [connected, fresh] = [
      await variant.subscribe(channel, "ada"),
      await variant.open(channel),
    ];
    await variant.betweenSteps(channel);
    for (const socket of [connected, fresh]) {
      for (let count = 0; count < 3; count++) {
        socket.sendFrame("{}");
        expect(await socket.frame()).toBe(answer);
      }
    }
    await variant.runAlarmWhenDue(channel);
    expect(await fresh.closed).toStrictEqual({ code: 3502, reason: "stale" });
    expect(await connected.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});

describe.each(variants)("a client-driven connection on $name", (variant) => {
  it("[K4] that fell silent is closed at the next wake and isn't present; one that pings is", async () => {
    const openedMs = Date.now();
    const channel = newChannel("plain");
    const [silent, received] = [
      await variant.connect(channel, "ada", {}, "?keepalive=client"),
      await variant.connect(channel, "ada", {}, "?keepalive=client"),
    ];
    await silent.ask({ id: 2, subscribe: { channel } });
    await received.ask({ id: 2, subscribe: { channel } });
    await variant.betweenSteps(channel);
    vi.setSystemTime(openedMs + 1_000);
    received.sendFrame("{}");
    expect(await received.frame()).toBe(answer);
    vi.setSystemTime(openedMs + 60_000);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":2');
    await variant.betweenSteps(channel);
    vi.setSystemTime(openedMs + 60_500);
    expect((await call("presence", { channel })).body).toBe(
      `{"result":{"presence":{"${received.client}":{"user":"ada","client":"${received.client}"}}}}`,
    );
    expect(await silent.closed).toStrictEqual(noPong);
    expect(await received.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});

describe.each(variants)("a client of the first release on $name", (variant) => {
  it("[K9] [K4] is answered its own text, by the object, which remembers when", async () => {
    const channel = newChannel("plain");
    const openedMs = Date.now();
    const socket = await variant.connect(channel, "ada", {}, "?keepalive=client");
    await socket.ask({ id: 2, subscribe: { channel } });
    await variant.betweenSteps(channel);
    vi.setSystemTime(openedMs + 50_000);
    socket.sendFrame("ping");
    expect(await socket.frame()).toBe("pong");
    await variant.betweenSteps(channel);
    vi.setSystemTime(openedMs + 110_000);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await variant.betweenSteps(channel);
    vi.setSystemTime(openedMs + 111_000);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
    expect(await socket.closed).toStrictEqual(noPong);
    await variant.betweenSteps(channel);
  });
});

/** A unidirectional client, as the edge hands it over. */
const oneWayClient = {
  codec: "one_way",
  claims: { user: "bob", expireAtSeconds: 0 },
} as const;

describe.each(places)("a sleeping object with $name", (place) => {
  const runs = (channel: string) => evictDurableObject(place.holder(channel));
  const sleep = (channel: string) =>
    evictDurableObject(place.holder(channel), { webSockets: "hibernate" });

  it.each(["", "?keepalive=client"])(
    "[K3] isn't woken by the text that keeps a connection alive, which is answered all the same: %s",
    async (query) => {
      const channel = newChannel("plain");
      const socket = TestSocket.on(await place.upgrade(channel, query));
      await socket.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
      await sleep(channel);
      socket.sendFrame("{}");
      expect(await socket.frame()).toBe(answer);
      await expect(runs(channel)).rejects.toThrow(/not.*running/i);
      expect(await socket.unread()).toStrictEqual([]);
      await sleep(channel);
    },
  );

  it("[K3] [K9] [T8] is woken by an empty connect request, before which it answers the others itself", async () => {
    const channel = newChannel("plain");
    const other = TestSocket.on(await place.upgrade(channel, ""));
    await other.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    const oneWay = TestSocket.on(await requestUpgrade(place.holder(channel), oneWayClient));
    await sleep(channel);
    other.sendFrame("{}");
    expect(await other.frame()).toBe(answer);
    // It runs: the platform answered nothing.
    await sleep(channel);
    oneWay.sendFrame("{}");
    expect(await oneWay.frame()).toContain('{"connect":{');
    await sleep(channel);
    for (const socket of [other, oneWay]) {
      socket.sendFrame("{}");
      expect(await socket.frame()).toBe(answer);
    }
    await expect(runs(channel)).rejects.toThrow(/not.*running/i);
  });

  it("[K3] [T8] has the platform answer again when the connect request never came", async () => {
    const channel = newChannel("plain");
    const other = TestSocket.on(await place.upgrade(channel, ""));
    await other.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    const silent = TestSocket.on(await requestUpgrade(place.holder(channel), oneWayClient));
    vi.setSystemTime(Date.now() + 10_000);
    expect(await runDurableObjectAlarm(place.holder(channel))).toBe(true);
    expect((await silent.closed).code).toBe(3502);
    await sleep(channel);
    other.sendFrame("{}");
    expect(await other.frame()).toBe(answer);
    await expect(runs(channel)).rejects.toThrow(/not.*running/i);
  });

  it("[V1] [K2] that the first release left behind goes on with its sessions", async () => {
    const channel = newChannel("plain");
    const sockets = await Promise.all(
      ["ada", "bob"].map(async (user) => {
        const socket = TestSocket.on(await place.upgrade(channel, ""));
        await socket.ask({ id: 1, connect: { token: await token({ sub: user }) } });
        return socket;
      }),
    );
    const [answers, silent] = sockets;
    const pingedAtMs = Date.now();
    await runInDurableObject<DurableObject, void>(place.holder(channel), (_, context) => {
      context.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
      for (const socket of context.getWebSockets()) {
        const attachment: unknown = socket.deserializeAttachment();
        socket.serializeAttachment(
          Object.assign({}, attachment, { v: 1, pingedAtMs, awaitingPong: true }),
        );
      }
    });
    await sleep(channel);
    answers?.sendFrame("{}");
    // The first release's answer was to another text, so this one woke the object.
    expect(await answers?.frame()).toBe(answer);
    await sleep(channel);
    vi.setSystemTime(pingedAtMs + 25_000);
    expect(await runDurableObjectAlarm(place.holder(channel))).toBe(true);
    expect(await silent?.closed).toStrictEqual(noPong);
    expect(await answers?.frame()).toBe("{}");
    await sleep(channel);
    answers?.sendFrame("{}");
    expect(await answers?.frame()).toBe(answer);
    await expect(runs(channel)).rejects.toThrow(/not.*running/i);
  });
});
