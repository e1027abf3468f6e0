import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { pushLine } from "../presence/presence-pushes.ts";
import { gatewayVariants } from "../support/variant.ts";

describe.each(gatewayVariants)("many channels on $name", (variant) => {
  it("[O1][O3] each have their own order and position", async () => {
    const [room, plain, other] = [newChannel("room"), newChannel("plain"), newChannel("")];
    const { epoch } = await publish(room, "before");
    const socket = await variant.connect(room, "ada");
    await variant.betweenSteps(room, plain, other);
    await socket.ask({ id: 2, subscribe: { channel: plain } });
    await socket.ask({ id: 3, subscribe: { channel: other } });
    expect(await socket.ask({ id: 4, subscribe: { channel: room } })).toMatchObject({
      subscribe: { epoch, offset: 1 },
    });
    await socket.line(); // its own join
    for (const offset of [2, 3]) {
      await variant.betweenSteps(room, plain, other);
      await publish(room, offset);
      expect(await socket.line()).toBe(
        pushLine(room, "pub", `{"data":${offset},"offset":${offset}}`),
      );
      await publish(plain, offset);
      expect(await socket.line()).toBe(pushLine(plain, "pub", `{"data":${offset}}`));
      await publish(other, offset);
      expect(await socket.line()).toContain(`"data":${offset},"offset":${offset - 1}`);
    }
    await variant.betweenSteps(room, plain, other);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(room, plain, other);
  });

  it("[G5] are left one by one, and the rest continues", async () => {
    const [home, left, kept] = [newChannel("plain"), newChannel("room"), newChannel("plain")];
    const socket = await variant.connect(home, "ada");
    const observer = await variant.connect(home, "bob");
    for (const [index, channel] of [home, kept, left].entries()) {
      await socket.ask({ id: 2 + index, subscribe: { channel } });
    }
    expect(await socket.line()).toContain('"join"');
    await observer.ask({ id: 2, subscribe: { channel: left } });
    await variant.betweenSteps(home, left, kept);
    await socket.unread();
    await observer.unread();
    expect(await socket.ask({ id: 9, unsubscribe: { channel: left } })).toMatchObject({
      unsubscribe: {},
    });
    const info = `{"info":{"user":"ada","client":"${socket.client}"}}`;
    expect(await observer.line()).toBe(pushLine(left, "leave", info));
    await variant.betweenSteps(home, left, kept);
    await publish(left, 1);
    await publish(kept, 2);
    expect(await socket.unread()).toStrictEqual([pushLine(kept, "pub", '{"data":2}')]);
    expect((await call("presence_stats", { channel: left })).body).toContain('"num_clients":1');
    expect((await call("presence_stats", { channel: kept })).body).toContain('"num_clients":1');
    await variant.betweenSteps(home, left, kept);
  });

  it("[O5] are all left when the socket closes, also after hibernation", async () => {
    const [home, ...channels] = [newChannel("room"), newChannel("room"), newChannel("room")];
    const [ada, bob] = [await variant.connect(home, "ada"), await variant.connect(home, "bob")];
    for (const [index, channel] of [home, ...channels].entries()) {
      for (const socket of [ada, bob]) socket.send({ id: 2 + index, subscribe: { channel } });
    }
    await ada.unread();
    await bob.unread();
    await variant.betweenSteps(home, ...channels);
    bob.close();
    const leaves = [await ada.line(), await ada.line(), await ada.line()];
    const info = `{"info":{"user":"bob","client":"${bob.client}"}}`;
    expect(leaves.toSorted()).toStrictEqual(
      [home, ...channels].map((channel) => pushLine(channel, "leave", info)).toSorted(),
    );
    await variant.betweenSteps(home, ...channels);
    expect(await ada.unread()).toStrictEqual([]);
    await variant.betweenSteps(home, ...channels);
  });

  it("[A1] may be published to and looked at without a subscription, where the namespace says so", async () => {
    const [home, plain] = [newChannel("room"), newChannel("plain")];
    const [ada, bob] = [await variant.connect(home, "ada"), await variant.connect(home, "bob")];
    await bob.ask({ id: 2, subscribe: { channel: plain } });
    await variant.betweenSteps(home, plain);
    expect(await ada.ask({ id: 3, publish: { channel: plain, data: 1 } })).toMatchObject({
      publish: {},
    });
    expect(await bob.line()).toContain('"data":1');
    expect(await ada.ask({ id: 4, presence_stats: { channel: plain } })).toStrictEqual({
      id: 4,
      presence_stats: { num_clients: 1, num_users: 1 },
    });
    const denied = { error: { code: 103 } };
    expect(await ada.ask({ id: 5, publish: { channel: home, data: 1 } })).toMatchObject(denied);
    const unknown = { error: { code: 102 } };
    expect(await ada.ask({ id: 6, subscribe: { channel: "no-such:1" } })).toMatchObject(unknown);
    await variant.betweenSteps(home, plain);
  });
});
