import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { gatewayRows } from "../support/gateway-rows.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace } from "../support/place.ts";
import { subscribePastJoin, pushLine } from "../presence/presence-pushes.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import { token } from "../support/sign-token.ts";
import { awake } from "../support/object-state.ts";

const [lost, other] = [new Variant(gatewayPlace(0), awake), new Variant(gatewayPlace(1), awake)];

describe("a gateway that is thrown away with its sockets", () => {
  it("[L3][R2] loses nothing for its clients, which reconnect, there or elsewhere, and recover", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(lost, channel, "ada"),
      await subscribePastJoin(lost, channel, "bob"),
    ];
    const { epoch } = await publish(channel, 1);
    for (const socket of [ada, bob]) await socket.unread();
    await evictDurableObject(lost.place.holder(channel), { webSockets: "close" });
    for (const socket of [ada, bob]) expect((await socket.closed).code).toBe(1006);
    await publish(channel, 2);
    const back = [await lost.connect(channel, "ada"), await other.connect(channel, "bob")];
    for (const socket of back) {
      const options = { recover: true, epoch, offset: 1 };
      expect(await socket.ask({ id: 2, subscribe: { channel, ...options } })).toMatchObject({
        subscribe: { recovered: true, publications: [{ data: 2, offset: 2 }] },
      });
    }
    for (const socket of back) await socket.unread(); // joins
    await publish(channel, 3);
    for (const socket of back) {
      expect(await socket.unread()).toStrictEqual([
        pushLine(channel, "pub", '{"data":3,"offset":3}'),
      ]);
    }
  });

  it("[L5] is forgotten with the next publication, and has no present client any more", async () => {
    const channel = newChannel("room");
    const ada = await subscribePastJoin(lost, channel, "ada");
    const observer = await subscribePastJoin(other, channel, "bob");
    await ada.unread();
    expect(await gatewayRows(channel)).toStrictEqual([`${channel}/0`, `${channel}/1`]);
    await evictDurableObject(lost.place.holder(channel), { webSockets: "close" });
    await ada.closed;
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await publish(channel, 1);
    await watchedRelay.settled();
    expect(await gatewayRows(channel)).toStrictEqual([`${channel}/1`]);
    expect(await observer.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    const before = watchedRelay.deliveries.length;
    await publish(channel, 2);
    expect(await observer.line()).toBe(pushLine(channel, "pub", '{"data":2,"offset":2}'));
    const called = watchedRelay.deliveries.slice(before).map(({ gateway }) => gateway);
    expect(called).toStrictEqual([`${channel}/1`]);
  });
});

describe("a gateway without its last subscriber", () => {
  it("[L5] is forgotten with the next publication, and follows again with the next subscriber", async () => {
    const channel = newChannel("ring");
    const variant = new Variant(gatewayPlace(), awake);
    const socket = await variant.connect(channel, "ada", { channels: [channel] });
    const { epoch } = await publish(channel, 1);
    expect(await socket.line()).toContain('"data":1');
    socket.close();
    await socket.closed;
    await watchedRelay.settled();
    expect(await gatewayRows(channel)).toStrictEqual([`${channel}/0`]);
    await publish(channel, 2);
    await watchedRelay.settled();
    expect(await gatewayRows(channel)).toStrictEqual([]);
    await publish(channel, 3);
    const back = await variant.open(channel);
    await back.ask({
      id: 1,
      connect: { token: await token({ sub: "ada", channels: [channel] }) },
    });
    expect(await gatewayRows(channel)).toStrictEqual([`${channel}/0`]);
    expect(await publish(channel, 4)).toStrictEqual({ offset: 4, epoch });
    expect(await back.line()).toBe(pushLine(channel, "pub", '{"data":4,"offset":4}'));
  });

  it("[L5] is forgotten by a channel that hibernated since, whose registry is durable", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(lost, channel, "ada"),
      await subscribePastJoin(other, channel, "bob"),
    ];
    await ada.unread();
    await evictDurableObject(env.CHANNELS.getByName(channel));
    await publish(channel, 1);
    for (const socket of [ada, bob]) {
      expect(await socket.unread()).toContainEqual(expect.stringContaining('"data":1'));
    }
    ada.close();
    await ada.closed;
    await watchedRelay.settled();
    await evictDurableObject(env.CHANNELS.getByName(channel));
    await publish(channel, 2);
    await watchedRelay.settled();
    expect(await gatewayRows(channel)).toStrictEqual([`${channel}/1`]);
  });
});
