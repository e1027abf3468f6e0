import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import type { Attachment } from "../../../src/contract/attachment.ts";
import { publish } from "../support/api-request.ts";
import { attachmentsOf, rewriteAttachments, hibernate } from "../support/attachments.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace, spillPlace } from "../support/place.ts";
import { subscribePastJoin, pushLine } from "../presence/presence-pushes.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import { awake } from "../support/object-state.ts";

afterEach(() => {
  watchedRelay.deliveryFault = undefined;
});

const variants = [gatewayPlace(), spillPlace].map((place) => new Variant(place, awake));

/** As a release writes it that knows of no positions. */
function withoutKept(attachment: Attachment): Attachment {
  const { kept: _, ...rest } = attachment;
  return rest;
}

/** The clients whose attachments hold a cursor of the gateway. */
async function cursorHolders({ place }: Variant, channel: string): Promise<readonly string[]> {
  const attachments = await attachmentsOf(place.holder(channel));
  return attachments.filter(({ kept }) => kept !== undefined).map(({ client }) => client);
}

describe.each(variants)("a gateway after hibernation, with $place.name", (variant) => {
  it.each(["room", "plain"])(
    "[L7] knows its cursor, although the channel hibernated too: nothing twice, and no signal (%s)",
    async (namespace) => {
      const channel = newChannel(namespace);
      const sockets = [];
      for (const user of ["ada", "bob", "cyd"])
        sockets.push(await variant.subscribe(channel, user));
      for (const data of [1, 2]) await publish(channel, data);
      for (const socket of sockets) await socket.unread();
      // One attachment for each publication, and not one for each subscriber.
      expect(await cursorHolders(variant, channel)).toStrictEqual([sockets[0]?.client]);
      for (const data of [3, 4, 5]) {
        await hibernate(variant.place.holder(channel));
        await hibernate(env.CHANNELS.getByName(channel));
        await publish(channel, data);
        for (const socket of sockets) {
          expect(await socket.unread()).toStrictEqual([expect.stringContaining(`"data":${data}`)]);
        }
      }
    },
  );

  it("[L7][L4] reads the missed publications if the channel crashed before the delivery", async () => {
    const channel = newChannel("room");
    const socket = await subscribePastJoin(variant, channel, "ada");
    await publish(channel, 1);
    await socket.unread();
    watchedRelay.deliveryFault = lostCall;
    for (const data of [2, 3]) await publish(channel, data);
    await hibernate(variant.place.holder(channel));
    await crashObject(env.CHANNELS.getByName(channel));
    watchedRelay.deliveryFault = undefined;
    expect(await runDurableObjectAlarm(env.CHANNELS.getByName(channel))).toBe(true);
    for (const offset of [2, 3]) {
      expect(await socket.line()).toBe(
        pushLine(channel, "pub", `{"data":${offset},"offset":${offset}}`),
      );
    }
    expect(await socket.unread()).toStrictEqual([]);
  });

  it("[L7][L3] signals insufficient state to its subscribers if its cursor is unknown", async () => {
    const channel = newChannel("room");
    const socket = await subscribePastJoin(variant, channel, "ada");
    const { epoch } = await publish(channel, 1);
    await socket.unread();
    await rewriteAttachments(variant.place.holder(channel), withoutKept);
    await hibernate(env.CHANNELS.getByName(channel));
    await publish(channel, 2);
    expect(await socket.line()).toBe(
      pushLine(channel, "unsubscribe", '{"code":2500,"reason":"insufficient state"}'),
    );
    const options = { recover: true, epoch, offset: 1 };
    expect(await socket.ask({ id: 3, subscribe: { channel, ...options } })).toMatchObject({
      subscribe: { recovered: true, publications: [{ data: 2, offset: 2 }] },
    });
  });
});

describe("a gateway after hibernation, with server-side subscriptions", () => {
  it("[L7][L3] closes them with 3010 if its cursor is unknown", async () => {
    const channel = newChannel("room");
    const variant = new Variant(gatewayPlace(), awake);
    const socket = await variant.connect(channel, "ada", { channels: [channel] });
    await publish(channel, 1);
    await socket.unread();
    await rewriteAttachments(variant.place.holder(channel), withoutKept);
    await hibernate(env.CHANNELS.getByName(channel));
    await publish(channel, 2);
    expect(await socket.closed).toStrictEqual({ code: 3010, reason: "insufficient state" });
    expect(await socket.rest()).toStrictEqual([]);
  });
});
