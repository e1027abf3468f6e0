import { describe, expect, it } from "vitest";
import { call, publish } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { enter, infoOf, push } from "./room.ts";
import { settings } from "./setting.ts";

describe.each(settings)("a subscription on $name", (setting) => {
  it("[O3][O1] gets every publication after its reply, in order, each once", async () => {
    const channel = newChannel("room");
    const { epoch } = await publish(channel, "before");
    const socket = await setting.connect(channel, "ada");
    await setting.pause(channel);
    socket.send({ id: 2, subscribe: { channel } });
    expect(await socket.line()).toBe(
      `{"id":2,"subscribe":{"recoverable":true,"epoch":"${epoch}","offset":1,"positioned":true}}`,
    );
    expect(await socket.line()).toBe(push(channel, "join", infoOf("ada", socket)));
    for (const offset of [2, 3, 4]) {
      await setting.pause(channel);
      expect(await publish(channel, offset)).toStrictEqual({ offset, epoch });
      expect(await socket.line()).toBe(
        push(channel, "pub", `{"data":${offset},"offset":${offset}}`),
      );
    }
    await setting.pause(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[W1] without history is answered with nothing, and its first publication has no epoch", async () => {
    const channel = newChannel("plain");
    const socket = await setting.connect(channel, "ada");
    await setting.pause(channel);
    socket.send({ id: 2, subscribe: { channel, recover: true, positioned: true } });
    expect(await socket.line()).toBe('{"id":2,"subscribe":{}}');
    await setting.pause(channel);
    await publish(channel, 1);
    expect(await socket.line()).toBe(push(channel, "pub", '{"data":1}'));
    await setting.pause(channel);
  });

  it("[W1] there is only one: a second is answered 105", async () => {
    const channel = newChannel("room");
    const socket = await enter(setting, channel, "ada");
    await setting.pause(channel);
    socket.send({ id: 3, subscribe: { channel } });
    expect(await socket.line()).toBe(
      '{"id":3,"error":{"code":105,"message":"already subscribed"}}',
    );
    await setting.pause(channel);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await setting.pause(channel);
  });

  it("[O4] hears its own publication before the publish is answered", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(setting, channel, "ada"), await enter(setting, channel, "bob")];
    await ada.line(); // Bob's join
    await setting.pause(channel);
    ada.sendFrame(`{"id":3,"publish":{"channel":"${channel}","data":{"b":1.50, "a":2}}}`);
    const first = await ada.line();
    const info = `{"user":"ada","client":"${ada.client}"}`;
    expect(first).toMatch(/,"epoch":"\w{8}"\}\}\}$/);
    expect(first.replace(/,"epoch":"\w+"/, "")).toBe(
      push(channel, "pub", `{"data":{"b":1.50, "a":2},"info":${info},"offset":1}`),
    );
    expect(await ada.line()).toBe('{"id":3,"publish":{}}');
    expect(await bob.line()).toBe(first);
    await setting.pause(channel);
    expect(await bob.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });
});
