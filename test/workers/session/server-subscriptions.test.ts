import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { gatewayRows } from "../support/gateway-rows.ts";
import { blockObject } from "../support/block-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { pushLine } from "../presence/presence-pushes.ts";
import { gatewayVariants } from "../support/variant.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";

describe.each(gatewayVariants)("the server's own subscriptions on $name", (variant) => {
  it("[C9] to the token's channels come in the connect reply, and are live", async () => {
    const [room, closed] = [newChannel("room"), newChannel("closed")];
    const { epoch } = await publish(room, 1);
    const socket = await variant.open(room);
    await variant.betweenSteps(room, closed);
    const claims = { sub: "ada", channels: [room, closed, room] };
    socket.send({ id: 1, connect: { token: await token(claims) } });
    const { client = "", subs } = (await socket.next()).connect ?? {};
    socket.client = client;
    expect(subs).toStrictEqual({
      [room]: { recoverable: true, epoch, offset: 1, positioned: true },
      [closed]: {},
    });
    expect(await socket.line()).toBe(
      pushLine(room, "join", `{"info":{"user":"ada","client":"${client}"}}`),
    );
    await variant.betweenSteps(room, closed);
    await publish(room, 2);
    expect(await socket.line()).toBe(pushLine(room, "pub", '{"data":2,"offset":2}'));
    await publish(closed, 3);
    expect(await socket.line()).toBe(pushLine(closed, "pub", '{"data":3}'));
    socket.send({ id: 2, subscribe: { channel: closed } });
    expect(await socket.line()).toContain('"code":105');
    await variant.betweenSteps(room, closed);
  });

  it("[C9] take info, data and override from the token's subs, which count instead of channels", async () => {
    const [channel, ignored] = [newChannel("room"), newChannel("room")];
    const subs = {
      [channel]: {
        info: { badge: 1.0 },
        data: { hello: "ada" },
        override: {
          presence: { value: false },
          join_leave: { value: false },
          force_recovery: { value: false },
          force_positioning: { value: true },
        },
      },
    };
    const observer = await variant.subscribe(channel, "bob");
    await observer.line(); // its own join
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    const signed = await token({ sub: "ada", subs, channels: [ignored] });
    const reply = await socket.ask({ id: 1, connect: { token: signed } });
    expect(reply.connect?.subs).toStrictEqual({
      [channel]: { epoch: expect.any(String), positioned: true, data: { hello: "ada" } },
    });
    await variant.betweenSteps(channel);
    expect(await observer.unread()).toStrictEqual([]);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await publish(channel, 1);
    expect(await socket.line()).toContain('"data":1,"offset":1');
    await variant.betweenSteps(channel);
    socket.send({ id: 2, publish: { channel, data: 2 } });
    expect(await socket.line()).toContain(`"chan_info":{"badge":1`);
    expect(await socket.line()).toBe('{"id":2,"publish":{}}');
    await variant.betweenSteps(channel);
  });

  it("[C9][R2] recover from the positions that connect brings, none of their pushes before it", async () => {
    const [room, brief] = [newChannel("room"), newChannel("brief")];
    const { epoch } = await publish(room, 1);
    await publish(room, 2);
    const other = await publish(brief, 1);
    for (const data of [2, 3, 4, 5]) await publish(brief, data);
    const socket = await variant.open(room);
    await variant.betweenSteps(room, brief);
    const signed = await token({ sub: "ada", channels: [room, brief] });
    const subs = {
      [room]: { recover: true, epoch, offset: 1 },
      [brief]: { recover: true, epoch: other.epoch, offset: 1 },
    };
    socket.send({ id: 1, connect: { token: signed, subs } });
    await publish(room, 3);
    const lines = [await socket.line(), ...(await socket.unread())];
    const { connect }: { connect?: { subs?: Record<string, object> } } = JSON.parse(lines[0] ?? "");
    const recovered = JSON.stringify(connect?.subs?.[room]);
    expect(recovered).toContain(`"recovered":true,"offset":1,"positioned":true`);
    // Whether the third came with the reply or after it: each once, in order.
    const stream = [recovered, ...lines.slice(1)].join("\n");
    expect([...stream.matchAll(/"data":(\d)/g)].map(([, data]) => data)).toStrictEqual(["2", "3"]);
    expect(connect?.subs?.[brief]).toStrictEqual({
      recoverable: true,
      epoch: other.epoch,
      offset: 5,
      positioned: true,
      was_recovering: true,
    });
    await variant.betweenSteps(room, brief);
  });

  it("[C9][O3] push nothing before the reply, though one of the channels is slow to answer", async () => {
    const [quick, slow] = [newChannel(""), newChannel("")];
    const socket = await variant.open(quick);
    await variant.betweenSteps(quick, slow);
    const answerAgain = blockObject(env.CHANNELS.getByName(slow));
    const signed = await token({ sub: "ada", channels: [quick, slow] });
    socket.send({ id: 1, connect: { token: signed } });
    while ((await gatewayRows(quick)).length === 0);
    for (const data of [1, 2]) await publish(quick, data);
    await answerAgain();
    const reply = await socket.next();
    expect(Object.keys(reply.connect?.subs ?? {}).toSorted()).toStrictEqual(
      [quick, slow].toSorted(),
    );
    for (const offset of [1, 2]) {
      expect(await socket.line()).toContain(`"data":${offset},"offset":${offset}`);
    }
    await variant.betweenSteps(quick, slow);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(quick, slow);
  });

  it("[C9] are kept by a refresh that names the same, and others close 3010", async () => {
    const [kept, other] = [newChannel("room"), newChannel("room")];
    const claims = { channels: [kept], exp: secondsFromNow(60) };
    const socket = await variant.connect(kept, "ada", claims);
    await socket.line(); // its own join
    await variant.betweenSteps(kept);
    const same = await token({ sub: "ada", ...claims, info: "new" });
    expect(await socket.ask({ id: 2, refresh: { token: same } })).toMatchObject({
      refresh: { expires: true },
    });
    await variant.betweenSteps(kept);
    expect((await call("presence", { channel: kept })).body).toContain('"conn_info":"new"');
    const more = await token({ sub: "ada", ...claims, channels: [kept, other] });
    socket.send({ id: 3, refresh: { token: more } });
    expect(await socket.closed).toStrictEqual({ code: 3010, reason: "insufficient state" });
    await variant.betweenSteps(kept);
  });

  it("[C9][A3] are those of the token at the upgrade, when connect brings none", async () => {
    const channel = newChannel("room");
    const signed = await token({ sub: "ada", subs: { [channel]: { info: { badge: 1 } } } });
    const socket = await variant.open(channel, `?token=${signed}`);
    await variant.betweenSteps(channel);
    const { connect } = await socket.ask({ id: 1, connect: {} });
    expect(Object.keys(connect?.subs ?? {})).toStrictEqual([channel]);
    expect(await socket.line()).toContain('"chan_info":{"badge":1}');
    await variant.betweenSteps(channel);
    expect((await call("presence", { channel })).body).toContain('"chan_info":{"badge":1}');
    await publish(channel, 1);
    expect(await socket.line()).toContain('"data":1,"offset":1');
    await variant.betweenSteps(channel);
  });

  it("[C9] in a namespace that isn't configured fail the connect with 102", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    const signed = await token({ sub: "ada", channels: [channel, "no-such:1"] });
    expect(await socket.ask({ id: 1, connect: { token: signed } })).toMatchObject({
      error: { code: 102 },
    });
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":0');
    await variant.betweenSteps(channel);
  });
});
