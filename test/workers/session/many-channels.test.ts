import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { pushLine } from "../presence/presence-pushes.ts";
import { gatewayVariants } from "../support/variant.ts";

describe.each(gatewayVariants)("many channels on $name", (variant) => {
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
});
