import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { call, keptData, publish } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { TestSocket } from "./test-socket.ts";
import { secondsFromNow, token } from "./token.ts";
import { wakefulness } from "./wakefulness.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Subscribes a user to a room, past its own join. */
async function enter(channel: string, user: string): Promise<TestSocket> {
  const socket = await TestSocket.subscribe(channel, user);
  expect(await socket.line()).toBe(push(channel, "join", infoOf(user, socket)));
  return socket;
}

function infoOf(user: string, { client }: TestSocket): string {
  return `{"info":{"user":"${user}","client":"${client}"}}`;
}

function push(channel: string, kind: string, content: string): string {
  return `{"push":{"channel":"${channel}","${kind}":${content}}}`;
}

describe.each(wakefulness)("a subscription at an object $name", ({ pause }) => {
  it("[O3][O1] gets every publication after its reply, in order, each once", async () => {
    const channel = newChannel("room");
    const { epoch } = await publish(channel, "before");
    const socket = await TestSocket.connect(channel, "ada");
    await pause(channel);
    socket.send({ id: 2, subscribe: { channel } });
    expect(await socket.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":1,"positioned":true}}`,
    );
    expect(await socket.line()).toBe(push(channel, "join", infoOf("ada", socket)));
    for (const offset of [2, 3, 4]) {
      await pause(channel);
      expect(await publish(channel, offset)).toStrictEqual({ offset, epoch });
      expect(await socket.line()).toBe(
        push(channel, "pub", `{"data":${offset},"offset":${offset}}`),
      );
    }
    await pause(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[W1] without history is answered with nothing, and its first publication has no epoch", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.connect(channel, "ada");
    await pause(channel);
    socket.send({ id: 2, subscribe: { channel, recover: true, positioned: true } });
    expect(await socket.line()).toBe('{"id":2,"subscribe":{}}');
    await pause(channel);
    await publish(channel, 1);
    expect(await socket.line()).toBe(push(channel, "pub", '{"data":1}'));
    await pause(channel);
  });

  it("[W1] there is only one: a second is answered 105", async () => {
    const channel = newChannel("room");
    const socket = await enter(channel, "ada");
    await pause(channel);
    socket.send({ id: 3, subscribe: { channel } });
    expect(await socket.line()).toBe(
      '{"id":3,"error":{"code":105,"message":"already subscribed"}}',
    );
    await pause(channel);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await pause(channel);
  });

  it("[O4] hears its own publication before the publish is answered", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(channel, "ada"), await enter(channel, "bob")];
    await ada.line(); // Bob's join
    await pause(channel);
    ada.sendFrame(`{"id":3,"publish":{"channel":"${channel}","data":{"b":1.50, "a":2}}}`);
    const first = await ada.line();
    const info = `{"user":"ada","client":"${ada.client}"}`;
    expect(first).toMatch(/,"epoch":"\w{8}"\}\}\}$/);
    expect(first.replace(/,"epoch":"\w+"/, "")).toBe(
      push(channel, "pub", `{"data":{"b":1.50, "a":2},"info":${info},"offset":1}`),
    );
    expect(await ada.line()).toBe('{"id":3,"publish":{}}');
    expect(await bob.line()).toBe(first);
    await pause(channel);
    expect(await bob.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[R2][R3] recovers what it missed, without a hole, and nothing when it missed nothing", async () => {
    const channel = newChannel("room");
    const { epoch } = await publish(channel, 1);
    await publish(channel, 2);
    await publish(channel, 3, { tags: { t: "3" } });
    const socket = await TestSocket.connect(channel, "ada");
    await pause(channel);
    socket.send({ id: 2, subscribe: { channel, recover: true, offset: 1, epoch } });
    expect(await socket.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
        `"publications":[{"data":2,"offset":2},{"data":3,"offset":3,"tags":{"t":"3"}}],` +
        `"recovered":true,"offset":1,"positioned":true,"was_recovering":true}}`,
    );
    const current = await TestSocket.connect(channel, "bob");
    await pause(channel);
    current.send({ id: 2, subscribe: { channel, recover: true, offset: 3, epoch } });
    expect(await current.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}",` +
        `"recovered":true,"offset":3,"positioned":true,"was_recovering":true}}`,
    );
    await pause(channel);
  });

  it("[R1][R5] that can't recover is told the top and nothing else, or gets 112 if it wants", async () => {
    const channel = newChannel("room");
    for (let data = 1; data <= 12; data++) await publish(channel, data);
    const { epoch } = await publish(channel, 13);
    const requests = [
      { recover: true, offset: 12, epoch: "other" },
      { recover: true, offset: 14, epoch },
      { recover: true, offset: 2, epoch },
    ];
    const top =
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":13,` +
      `"positioned":true,"was_recovering":true}}`;
    for (const request of requests) {
      const socket = await TestSocket.connect(channel, "ada");
      await pause(channel);
      socket.send({ id: 2, subscribe: { channel, ...request, flag: 2 } });
      expect(await socket.line()).toBe(
        '{"id":2,"error":{"code":112,"message":"unrecoverable position"}}',
      );
      expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
      await pause(channel);
      socket.send({ id: 2, subscribe: { channel, ...request, flag: 1 } });
      expect(await socket.line()).toBe(top);
      socket.send({ id: 3, unsubscribe: { channel } });
      await pause(channel);
    }
  });

  it("[H2][B1] reads history, as many publications at a time as the configuration allows", async () => {
    const channel = newChannel("room");
    const socket = await enter(channel, "ada");
    await pause(channel);
    for (const data of [1, 2, 3, 4, 5, 6]) await publish(channel, data, { skip_history: false });
    for (let count = 0; count < 6; count++) await socket.line();
    const { epoch } = await publish(channel, 7);
    await socket.line();
    const publications = (...offsets: number[]) =>
      offsets
        .map((offset) => {
          const first = offset === 1 ? `,"epoch":"${epoch}"` : "";
          return `{"data":${offset},"offset":${offset}${first}}`;
        })
        .join(",");
    const read = async (request: object) => {
      await pause(channel);
      socket.send({ id: 3, history: { channel, ...request } });
      return socket.line();
    };
    const listed = (...offsets: number[]) =>
      `{"id":3,"history":{"publications":[${publications(...offsets)}],"epoch":"${epoch}","offset":7}}`;
    expect(await read({})).toBe(listed());
    expect(await read({ limit: 2, since: { offset: 2, epoch } })).toBe(listed(3, 4));
    expect(await read({ limit: -1, since: { offset: 1, epoch } })).toBe(listed(2, 3, 4, 5));
    expect(await read({ limit: 5, reverse: true })).toBe(listed(7, 6, 5, 4));
    expect(await read({ since: { offset: 1, epoch: "other" } })).toContain('"code":112');
    expect(await read({ since: { offset: 0 }, reverse: true })).toContain('"code":107');
  });

  it("[P1] sees who is subscribed", async () => {
    const channel = newChannel("room");
    const ada = await enter(channel, "ada");
    await TestSocket.connect(channel, "not-subscribed");
    const bob = await enter(channel, "bob");
    await ada.line(); // Bob's join
    await pause(channel);
    ada.send({ id: 3, presence: { channel } }, { id: 4, presence_stats: { channel } });
    const members = {
      [ada.client]: { user: "ada", client: ada.client },
      [bob.client]: { user: "bob", client: bob.client },
    };
    expect(await ada.next()).toStrictEqual({ id: 3, presence: { presence: members } });
    expect(await ada.line()).toBe('{"id":4,"presence_stats":{"num_clients":2,"num_users":2}}');
    await pause(channel);
  });

  it("[O5] tells its join after its reply, and its leave once: at unsubscribe", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(channel, "ada"), await TestSocket.connect(channel, "bob")];
    await pause(channel);
    bob.send({ id: 2, subscribe: { channel } });
    expect(await bob.line()).toMatch(/^\{"id":2,"subscribe":/);
    expect(await bob.line()).toBe(push(channel, "join", infoOf("bob", bob)));
    expect(await ada.line()).toBe(push(channel, "join", infoOf("bob", bob)));
    await pause(channel);
    bob.send({ id: 3, unsubscribe: { channel } });
    expect(await bob.line()).toBe('{"id":3,"unsubscribe":{}}');
    expect(await ada.line()).toBe(push(channel, "leave", infoOf("bob", bob)));
    await pause(channel);
    bob.send({ id: 4, unsubscribe: { channel } });
    expect(await bob.line()).toBe('{"id":4,"unsubscribe":{}}');
    await publish(channel, 1);
    bob.close();
    await bob.closed;
    await pause(channel);
    expect(await ada.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    expect(await bob.rest()).toStrictEqual([]);
    await pause(channel);
  });

  it("[O5][S2] tells its leave once when its socket closes, also an object that slept", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(channel, "ada"), await enter(channel, "bob")];
    await ada.line(); // Bob's join
    await pause(channel);
    bob.close(4_000);
    expect(await ada.line()).toBe(push(channel, "leave", infoOf("bob", bob)));
    await pause(channel);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await pause(channel);
    expect(await ada.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[O5][S4] tells its leave once when we close it", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(channel, "ada"), await enter(channel, "bob")];
    await ada.line(); // Bob's join
    await pause(channel);
    bob.sendFrame("no command");
    expect(await ada.line()).toBe(push(channel, "leave", infoOf("bob", bob)));
    await pause(channel);
    expect((await bob.closed).code).toBe(3501);
    await pause(channel);
    await publish(channel, 1);
    expect(await ada.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    expect(await bob.rest()).toStrictEqual([]);
    await pause(channel);
  });

  it("[C5] ends with push 2501 a while after its token's end, and its leave is told", async () => {
    const channel = newChannel("room");
    const bob = await enter(channel, "bob");
    const ada = await TestSocket.open(channel, "?keepalive=client");
    await ada.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    await pause(channel);
    const exp = secondsFromNow(10);
    ada.send({ id: 2, subscribe: { channel, token: await token({ sub: "ada", channel, exp }) } });
    expect(await ada.line()).toMatch(/^\{"id":2,"subscribe":\{"expires":true,"ttl":(9|10),/);
    await ada.line();
    await bob.line(); // Ada's join
    await pause(channel);
    vi.setSystemTime((exp + 25) * 1_000 - 1);
    expect(await runDurableObjectAlarm(env.CHANNELS.getByName(channel))).toBe(true);
    expect(await bob.frame()).toBe("{}");
    expect(await ada.unread()).toStrictEqual([]);
    await pause(channel);
    vi.setSystemTime((exp + 25) * 1_000);
    expect(await runDurableObjectAlarm(env.CHANNELS.getByName(channel))).toBe(true);
    expect(await ada.line()).toBe(
      push(channel, "unsubscribe", '{"code":2501,"reason":"subscription expired"}'),
    );
    expect(await bob.line()).toBe(push(channel, "leave", infoOf("ada", ada)));
    await pause(channel);
    await publish(channel, 1);
    expect(await ada.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[C7] is closed by a sub_refresh that isn't good or isn't its own", async () => {
    const channel = newChannel("closed");
    const claims = { sub: "ada", channel };
    for (const [refresh, code] of [
      [await token({ ...claims, exp: secondsFromNow(-1) }), 3006],
      [await token({ ...claims, sub: "eve" }), 3500],
      [await token({ ...claims, channel: "closed:other" }), 3500],
      [await token(claims, "another secret"), 3500],
    ] as const) {
      const socket = await TestSocket.connect(channel, "ada");
      const exp = secondsFromNow(60);
      await socket.ask({ id: 2, subscribe: { channel, token: await token({ ...claims, exp }) } });
      await pause(channel);
      socket.send({ id: 3, sub_refresh: { channel, token: refresh } });
      expect((await socket.closed).code).toBe(code);
      expect(await socket.rest()).toStrictEqual([]);
      await pause(channel);
    }
  });

  it("[C5] is kept beyond its token's end by a sub_refresh, and not when it has none", async () => {
    const channel = newChannel("closed");
    const exp = secondsFromNow(10);
    const claims = { sub: "ada", channel };
    const [first, second] = [
      await token({ ...claims, exp }),
      await token({ ...claims, exp: exp + 3_600 }),
    ];
    const socket = await TestSocket.connect(channel, "ada");
    await pause(channel);
    socket.send({ id: 3, sub_refresh: { channel, token: second } });
    expect(await socket.line()).toContain('"code":103');
    await socket.ask({ id: 2, subscribe: { channel, token: first } });
    await pause(channel);
    socket.send({ id: 3, sub_refresh: { channel } });
    expect(await socket.line()).toContain('"code":107');
    await pause(channel);
    socket.send({ id: 4, sub_refresh: { channel, token: second } });
    expect(await socket.line()).toMatch(
      /^\{"id":4,"sub_refresh":\{"expires":true,"ttl":(3609|3610)\}\}$/,
    );
    await pause(channel);
    vi.setSystemTime((exp + 25) * 1_000);
    expect(await runDurableObjectAlarm(env.CHANNELS.getByName(channel))).toBe(true);
    expect(await socket.frame()).toBe("{}");
    expect(await socket.unread()).toStrictEqual([]);
    await pause(channel);
  });

  it("[A1][A4] is refused where nothing opens the channel, and opened by its own token only", async () => {
    const channel = newChannel("closed");
    const claims = { sub: "ada", channel };
    const [open, bound] = [
      await token({ ...claims, info: { x: 1 }, data: { y: 2.0 } }),
      await token({ ...claims, client: "another" }),
    ];
    const ada = await TestSocket.connect(channel, "ada");
    await pause(channel);
    const denied = '{"id":2,"error":{"code":103,"message":"permission denied"}}';
    ada.send({ id: 2, subscribe: { channel } });
    expect(await ada.line()).toBe(denied);
    await pause(channel);
    ada.send({ id: 2, subscribe: { channel, token: await token(claims, "another secret") } });
    expect(await ada.line()).toBe(denied);
    await pause(channel);
    ada.send({ id: 2, subscribe: { channel, token: open } });
    expect(await ada.line()).toBe('{"id":2,"subscribe":{"data":{"y":2}}}');
    await pause(channel);
    expect((await call("presence", { channel })).body).toContain('"chan_info":{"x":1}');
    ada.send({ id: 3, unsubscribe: { channel } });
    await ada.line();
    await pause(channel);
    ada.send({ id: 4, subscribe: { channel, token: bound } });
    expect(await ada.closed).toStrictEqual({ code: 3500, reason: "invalid token" });
    const eve = await TestSocket.connect(channel, "eve");
    await pause(channel);
    eve.send({ id: 2, subscribe: { channel, token: open } });
    expect(await eve.closed).toStrictEqual({ code: 3500, reason: "invalid token" });
    await pause(channel);
  });

  it("[A1] is what publishing, presence and history need where the namespace says so", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.connect(channel, "ada");
    await pause(channel);
    for (const command of [
      { publish: { channel, data: 1 } },
      { presence: { channel } },
      { presence_stats: { channel } },
      { history: { channel } },
    ]) {
      socket.send({ id: 2, ...command });
      expect(await socket.line()).toBe(
        '{"id":2,"error":{"code":103,"message":"permission denied"}}',
      );
    }
    expect(await keptData(channel)).toStrictEqual([]);
    await pause(channel);
  });
});
