import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Attachment } from "../../../src/contract/attachment.ts";
import { call, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import type { Holder } from "../support/place.ts";
import { subscribePastJoin, infoJson, pushLine } from "./presence-pushes.ts";
import { everyVariant } from "../support/variant.ts";

describe.each(everyVariant)("joins and leaves on $name", (variant) => {
  it("[O5] announces its join after its reply, and its leave once: at unsubscribe", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(variant, channel, "ada"),
      await variant.connect(channel, "bob"),
    ];
    await variant.betweenSteps(channel);
    bob.send({ id: 2, subscribe: { channel } });
    expect(await bob.line()).toMatch(/^\{"id":2,"subscribe":/);
    expect(await bob.line()).toBe(pushLine(channel, "join", infoJson("bob", bob)));
    expect(await ada.line()).toBe(pushLine(channel, "join", infoJson("bob", bob)));
    await variant.betweenSteps(channel);
    bob.send({ id: 3, unsubscribe: { channel } });
    expect(await bob.line()).toBe('{"id":3,"unsubscribe":{}}');
    expect(await ada.line()).toBe(pushLine(channel, "leave", infoJson("bob", bob)));
    await variant.betweenSteps(channel);
    bob.send({ id: 4, unsubscribe: { channel } });
    expect(await bob.line()).toBe('{"id":4,"unsubscribe":{}}');
    await publish(channel, 1);
    bob.close();
    await bob.closed;
    await variant.betweenSteps(channel);
    expect(await ada.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    expect(await bob.rest()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[O5][S2] announces its leave once when its socket closes, also after hibernation", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(variant, channel, "ada"),
      await subscribePastJoin(variant, channel, "bob"),
    ];
    await ada.line(); // Bob's join
    await variant.betweenSteps(channel);
    bob.close(4_000);
    expect(await ada.line()).toBe(pushLine(channel, "leave", infoJson("bob", bob)));
    await variant.betweenSteps(channel);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    await variant.betweenSteps(channel);
    expect(await ada.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[O5][S2] announces its leave once when its socket is lost without a close frame", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(variant, channel, "ada"),
      await subscribePastJoin(variant, channel, "bob"),
    ];
    await ada.line(); // Bob's join
    await variant.betweenSteps(channel);
    await loseSocket(variant.place.holder(channel), bob.client);
    expect(await ada.line()).toBe(pushLine(channel, "leave", infoJson("bob", bob)));
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    bob.close();
    await bob.closed;
    expect(await ada.unread()).toStrictEqual([]);
  });

  it("[O5][S4] announces its leave once when the server closes it", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(variant, channel, "ada"),
      await subscribePastJoin(variant, channel, "bob"),
    ];
    await ada.line(); // Bob's join
    await variant.betweenSteps(channel);
    bob.sendFrame("no command");
    expect(await ada.line()).toBe(pushLine(channel, "leave", infoJson("bob", bob)));
    await variant.betweenSteps(channel);
    expect((await bob.closed).code).toBe(3501);
    await variant.betweenSteps(channel);
    await publish(channel, 1);
    expect(await ada.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    expect(await bob.rest()).toStrictEqual([]);
    await variant.betweenSteps(channel);
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
