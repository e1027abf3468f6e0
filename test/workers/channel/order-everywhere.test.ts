import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { publish } from "../support/api-request.ts";
import { Random } from "../../support/random.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, gatewayPlace, type Place, spillPlace } from "../support/place.ts";
import { hibernate } from "../support/attachments.ts";
import { Variant } from "../support/variant.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awake } from "../support/object-state.ts";

const everywhere = [channelPlace, gatewayPlace(0), gatewayPlace(1), spillPlace];

/** The offsets and the payloads of the publications in these lines, in their order. */
function publications(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) =>
    [...line.matchAll(/\{"data":"([^"]*)",(?:"info":\{[^}]*\},)?"offset":(\d+)/g)].map(
      ([, data = "", offset = ""]) => `${offset} ${data}`,
    ),
  );
}

/** Throws one of the objects away, which may be at work. */
async function evictOne(channel: string, next: (below: number) => number): Promise<void> {
  const place: Place = everywhere[next(everywhere.length)] ?? channelPlace;
  const holder = place.holder(channel);
  // Only a running object can be evicted.
  await runInDurableObject<DurableObject, void>(holder, () => undefined);
  await hibernate(holder);
}

/** Reads up to a line that has all these texts somewhere before or in it. */
async function readTo(socket: TestSocket, ...texts: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const missing = new Set(texts);
  while (missing.size > 0) {
    const line = await socket.line();
    lines.push(line);
    for (const text of missing) if (line.includes(text)) missing.delete(text);
  }
  return lines;
}

describe.each([1, 2, 3, 4])(
  "publishers and subscribers everywhere, objects evicted at random (seed %i)",
  (seed) => {
    it("[O1][O3] see one order: none misses a publication or receives one twice", async () => {
      const random = new Random(seed);
      const next = (below: number): number => random.between(0, below - 1);
      const channel = newChannel("room");
      const variants = everywhere.map((place) => new Variant(place, awake));
      const early: { readonly socket: TestSocket; readonly replies: string[] }[] = [];
      for (const variant of variants) {
        early.push({ socket: await variant.subscribe(channel, "early"), replies: [] });
      }
      const late: TestSocket[] = [];
      const publishing: Promise<object>[] = [];
      for (let id = 10; id < 50; id++) {
        const publisher = early[next(5)];
        if (publisher === undefined) publishing.push(publish(channel, `by the API ${id}`));
        else {
          publisher.socket.send({ id, publish: { channel, data: `by a client ${id}` } });
          publisher.replies.push(`{"id":${id},"publish":{}}`);
        }
        if (id % 10 === 5) {
          const socket = await variants[next(variants.length)]?.connect(channel, "late");
          socket?.send({ id: 2, subscribe: { channel } });
          if (socket !== undefined) late.push(socket);
        }
        if (next(4) === 0) await evictOne(channel, next);
      }
      await Promise.all(publishing);
      const received: (readonly string[])[] = [];
      for (const { socket, replies } of early) received.push(await readTo(socket, ...replies));
      await publish(channel, "end");
      const orders: (readonly string[])[] = [];
      for (const [index, { socket }] of early.entries()) {
        const rest = [...(await readTo(socket, '"end"')), ...(await socket.unread())];
        orders.push(publications([...(received[index] ?? []), ...rest]));
      }
      const [order = [], ...others] = orders;
      const offsets = order.map((one) => Number(one.split(" ")[0]));
      expect(offsets).toStrictEqual(Array.from({ length: 41 }, (_, index) => index + 1));
      for (const other of others) expect(other).toStrictEqual(order);
      expect(late).toHaveLength(4);
      for (const socket of late) {
        const [reply = "", ...rest] = await readTo(socket, '"end"');
        const { subscribe }: { subscribe?: { offset?: number } } = JSON.parse(reply);
        expect(publications(rest)).toStrictEqual(order.slice(subscribe?.offset ?? 0));
      }
    });
  },
);
