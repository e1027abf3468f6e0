import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { callsMade, gatewayRows, rowsWritten } from "../support/gateway-rows.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace } from "../support/place.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awake } from "../support/object-state.ts";

const variants = Array.from({ length: 5 }, (_, index) => new Variant(gatewayPlace(index), awake));

/** How many rows a step costs the channel. */
async function costOf(channel: string, step: () => Promise<unknown>): Promise<number> {
  const before = await rowsWritten(channel);
  await step();
  await watchedRelay.settled();
  return (await rowsWritten(channel)) - before;
}

describe.each(["room", "plain"])("the gateways that follow a channel (%s)", (namespace) => {
  const perPublication = namespace === "room" ? 1 : 0;

  it("[L5] cost a row each when they register and when they are forgotten, and none for entries", async () => {
    const channel = newChannel(namespace);
    const sockets: TestSocket[] = [];
    const [first, ...others] = variants;
    // The first one brings the stream and the table.
    if (first !== undefined) sockets.push(await first.subscribe(channel, "ada"));
    for (const variant of others) {
      const subscribe = async () => sockets.push(await variant.subscribe(channel, "ada"));
      expect(await costOf(channel, subscribe)).toBe(1);
      // There may be a thousand more on the same gateway.
      expect(await costOf(channel, subscribe)).toBe(0);
    }
    const calls = await callsMade(channel);
    for (let count = 0; count < 10; count++) {
      expect(await costOf(channel, () => publish(channel, count))).toBe(perPublication);
    }
    expect((await callsMade(channel)) - calls).toBe(10 * variants.length);
    const leave = async () => {
      for (const socket of sockets.splice(1)) {
        socket.close();
        await socket.closed;
      }
      await watchedRelay.settled();
      await publish(channel, "last");
    };
    expect(await costOf(channel, leave)).toBe(perPublication + others.length);
    expect(await costOf(channel, () => publish(channel, "later"))).toBe(perPublication);
    expect(await gatewayRows(channel)).toStrictEqual([`${channel}/0`]);
  });

  it("[L5] are known to a channel after hibernation, which writes nothing for that", async () => {
    const channel = newChannel(namespace);
    const sockets: TestSocket[] = [];
    for (const variant of variants) sockets.push(await variant.subscribe(channel, "ada"));
    for (const socket of sockets) await socket.unread();
    for (const data of [1, 2, 3]) {
      await hibernate(env.CHANNELS.getByName(channel));
      expect(await rowsWritten(channel)).toBe(0);
      await publish(channel, data);
      for (const socket of sockets) {
        expect(await socket.unread()).toStrictEqual([expect.stringContaining(`"data":${data}`)]);
      }
      expect(await rowsWritten(channel)).toBe(perPublication);
      expect(await callsMade(channel)).toBe(variants.length);
    }
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":5');
    expect(await gatewayRows(channel)).toHaveLength(variants.length);
  });

  it("[L5][G5] write nothing when they follow again that are registered", async () => {
    const channel = newChannel(namespace);
    const [variant] = variants;
    if (variant === undefined) throw new Error("there is no setting");
    const socket = await variant.subscribe(channel, "ada");
    await socket.unread();
    const again = async (): Promise<void> => {
      for (let id = 10; id < 30; id += 2) {
        socket.send({ id, unsubscribe: { channel } }, { id: id + 1, subscribe: { channel } });
      }
      await socket.unread();
    };
    expect(await costOf(channel, again)).toBe(0);
    await publish(channel, 1);
    const lines = await socket.unread();
    expect(lines.filter((line) => line.includes('"pub"'))).toHaveLength(1);
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
  });
});
