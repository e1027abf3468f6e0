import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Attachment } from "../../src/contract/attachment.ts";
import { call, publish } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import type { Holder } from "./place.ts";
import { enter, infoOf, push } from "./room.ts";
import { settings } from "./setting.ts";

describe.each(settings)("who comes and goes on $name", (setting) => {
  it("[P1] sees who is subscribed", async () => {
    const channel = newChannel("room");
    const ada = await enter(setting, channel, "ada");
    await setting.connect(channel, "not-subscribed");
    const bob = await enter(setting, channel, "bob");
    await ada.line(); // Bob's join
    await setting.pause(channel);
    ada.send({ id: 3, presence: { channel } }, { id: 4, presence_stats: { channel } });
    const members = {
      [ada.client]: { user: "ada", client: ada.client },
      [bob.client]: { user: "bob", client: bob.client },
    };
    expect(await ada.next()).toStrictEqual({ id: 3, presence: { presence: members } });
    expect(await ada.line()).toBe('{"id":4,"presence_stats":{"num_clients":2,"num_users":2}}');
    await setting.pause(channel);
  });

  it("[O5] tells its join after its reply, and its leave once: at unsubscribe", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await enter(setting, channel, "ada"),
      await setting.connect(channel, "bob"),
    ];
    await setting.pause(channel);
    bob.send({ id: 2, subscribe: { channel } });
    expect(await bob.line()).toMatch(/^\{"id":2,"subscribe":/);
    expect(await bob.line()).toBe(push(channel, "join", infoOf("bob", bob)));
    expect(await ada.line()).toBe(push(channel, "join", infoOf("bob", bob)));
    await setting.pause(channel);
    bob.send({ id: 3, unsubscribe: { channel } });
    expect(await bob.line()).toBe('{"id":3,"unsubscribe":{}}');
    expect(await ada.line()).toBe(push(channel, "leave", infoOf("bob", bob)));
    await setting.pause(channel);
    bob.send({ id: 4, unsubscribe: { channel } });
    expect(await bob.line()).toBe('{"id":4,"unsubscribe":{}}');
    await publish(channel, 1);
    bob.close();
    await bob.closed;
    await setting.pause(channel);
    expect(await ada.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    expect(await bob.rest()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[O5][S2] tells its leave once when its socket closes, also an object that slept", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(setting, channel, "ada"), await enter(setting, channel, "bob")];
    await ada.line(); // Bob's join
    await setting.pause(channel);
    bob.close(4_000);
    expect(await ada.line()).toBe(push(channel, "leave", infoOf("bob", bob)));
    await setting.pause(channel);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await setting.pause(channel);
    expect(await ada.unread()).toStrictEqual([]);
    await setting.pause(channel);
  });

  it("[O5][S2] tells its leave once when its socket is lost without a word", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(setting, channel, "ada"), await enter(setting, channel, "bob")];
    await ada.line(); // Bob's join
    await setting.pause(channel);
    await loseSocket(setting.place.holder(channel), bob.client);
    expect(await ada.line()).toBe(push(channel, "leave", infoOf("bob", bob)));
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    bob.close();
    await bob.closed;
    expect(await ada.unread()).toStrictEqual([]);
  });

  it("[O5][S4] tells its leave once when we close it", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [await enter(setting, channel, "ada"), await enter(setting, channel, "bob")];
    await ada.line(); // Bob's join
    await setting.pause(channel);
    bob.sendFrame("no command");
    expect(await ada.line()).toBe(push(channel, "leave", infoOf("bob", bob)));
    await setting.pause(channel);
    expect((await bob.closed).code).toBe(3501);
    await setting.pause(channel);
    await publish(channel, 1);
    expect(await ada.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    expect(await bob.rest()).toStrictEqual([]);
    await setting.pause(channel);
  });
});

/** Tells an object of the loss of a client's socket, as the platform would. */
async function loseSocket(holder: Holder, client: string): Promise<void> {
  await runInDurableObject<DurableObject, void>(holder, async (instance, state) => {
    for (const socket of state.getWebSockets()) {
      const attachment: Attachment = socket.deserializeAttachment();
      if (attachment.client !== client) continue;
      await instance.webSocketError?.(socket, new Error("Network connection lost."));
    }
  });
}
