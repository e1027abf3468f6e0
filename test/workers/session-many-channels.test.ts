import { describe, expect, it } from "vitest";
import { call, publish } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { push } from "./room.ts";
import { gatewaySettings } from "./setting.ts";

describe.each(gatewaySettings)("many channels on $name", (setting) => {
  it("[O1][O3] each have their own order and position", async () => {
    const [room, plain, other] = [newChannel("room"), newChannel("plain"), newChannel("")];
    const { epoch } = await publish(room, "before");
    const socket = await setting.connect(room, "ada");
    await setting.pause(room, plain, other);
    await socket.ask({ id: 2, subscribe: { channel: plain } });
    await socket.ask({ id: 3, subscribe: { channel: other } });
    expect(await socket.ask({ id: 4, subscribe: { channel: room } })).toMatchObject({
      subscribe: { epoch, offset: 1 },
    });
    await socket.line(); // its own join
    for (const offset of [2, 3]) {
      await setting.pause(room, plain, other);
      await publish(room, offset);
      expect(await socket.line()).toBe(push(room, "pub", `{"data":${offset},"offset":${offset}}`));
      await publish(plain, offset);
      expect(await socket.line()).toBe(push(plain, "pub", `{"data":${offset}}`));
      await publish(other, offset);
      expect(await socket.line()).toContain(`"data":${offset},"offset":${offset - 1}`);
    }
    await setting.pause(room, plain, other);
    expect(await socket.unread()).toStrictEqual([]);
    await setting.pause(room, plain, other);
  });

  it("[G5] are left one by one, and the rest goes on", async () => {
    const [home, left, kept] = [newChannel("plain"), newChannel("room"), newChannel("plain")];
    const socket = await setting.connect(home, "ada");
    const witness = await setting.connect(home, "bob");
    for (const [index, channel] of [home, kept, left].entries()) {
      await socket.ask({ id: 2 + index, subscribe: { channel } });
    }
    expect(await socket.line()).toContain('"join"');
    await witness.ask({ id: 2, subscribe: { channel: left } });
    await setting.pause(home, left, kept);
    await socket.unread();
    await witness.unread();
    expect(await socket.ask({ id: 9, unsubscribe: { channel: left } })).toMatchObject({
      unsubscribe: {},
    });
    const info = `{"info":{"user":"ada","client":"${socket.client}"}}`;
    expect(await witness.line()).toBe(push(left, "leave", info));
    await setting.pause(home, left, kept);
    await publish(left, 1);
    await publish(kept, 2);
    expect(await socket.unread()).toStrictEqual([push(kept, "pub", '{"data":2}')]);
    expect((await call("presence_stats", { channel: left })).body).toContain('"num_clients":1');
    expect((await call("presence_stats", { channel: kept })).body).toContain('"num_clients":1');
    await setting.pause(home, left, kept);
  });

  it("[O5] are all left when the socket closes, also after sleep", async () => {
    const [home, ...channels] = [newChannel("room"), newChannel("room"), newChannel("room")];
    const [ada, bob] = [await setting.connect(home, "ada"), await setting.connect(home, "bob")];
    for (const [index, channel] of [home, ...channels].entries()) {
      for (const socket of [ada, bob]) socket.send({ id: 2 + index, subscribe: { channel } });
    }
    await ada.unread();
    await bob.unread();
    await setting.pause(home, ...channels);
    bob.close();
    const leaves = [await ada.line(), await ada.line(), await ada.line()];
    const info = `{"info":{"user":"bob","client":"${bob.client}"}}`;
    expect(leaves.toSorted()).toStrictEqual(
      [home, ...channels].map((channel) => push(channel, "leave", info)).toSorted(),
    );
    await setting.pause(home, ...channels);
    expect(await ada.unread()).toStrictEqual([]);
    await setting.pause(home, ...channels);
  });

  it("[A1] may be published to and looked at without a subscription, where the namespace says so", async () => {
    const [home, plain] = [newChannel("room"), newChannel("plain")];
    const [ada, bob] = [await setting.connect(home, "ada"), await setting.connect(home, "bob")];
    await bob.ask({ id: 2, subscribe: { channel: plain } });
    await setting.pause(home, plain);
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
    await setting.pause(home, plain);
  });
});
