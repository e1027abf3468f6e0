import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { Random } from "../../support/random.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, gatewayPlace, spillPlace } from "../support/place.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awake } from "../support/object-state.ts";

const variants = [channelPlace, gatewayPlace(0), gatewayPlace(1), spillPlace].map(
  (place) => new Variant(place, awake),
);

interface RandomClient {
  readonly socket: TestSocket;
  /** The client's state after everything that it sent. */
  state: "subscribed" | "away" | "closed";
}

/** Subscribes, leaves or disconnects, without waiting for any answer. */
function takeRandomStep(client: RandomClient, channel: string, id: number, chosen: number): void {
  if (client.state === "closed") return;
  if (chosen === 0) {
    client.socket.close();
    client.state = "closed";
  } else if (chosen < 6) {
    client.socket.send({ id, subscribe: { channel } });
    client.state = "subscribed";
  } else {
    client.socket.send({ id, unsubscribe: { channel } });
    client.state = "away";
  }
}

/** The present clients, by their connections' IDs. */
async function present(channel: string): Promise<readonly string[]> {
  const { body } = await call("presence", { channel });
  const { result }: { result: { presence: object } } = JSON.parse(body);
  return Object.keys(result.presence).toSorted();
}

describe.each([1, 2, 3, 4])("clients that come, go and vanish all the time (seed %i)", (seed) => {
  it("[G5][P1] leave no subscription behind, and miss none that they have", async () => {
    const random = new Random(seed);
    const next = (below: number): number => random.between(0, below - 1);
    const channel = newChannel("room");
    const clients: RandomClient[] = [];
    for (const variant of variants) {
      for (let count = 0; count < 4; count++) {
        clients.push({ socket: await variant.connect(channel, "ada"), state: "away" });
      }
    }
    for (let id = 10; id < 200; id++) {
      const client = clients[next(clients.length)];
      if (client !== undefined) takeRandomStep(client, channel, id, next(11));
      if (next(10) === 0) await watchedRelay.settled();
    }
    const open = clients.filter(({ state }) => state !== "closed");
    for (const { socket, state } of clients) if (state === "closed") await socket.closed;
    for (const { socket } of open) await socket.unread();
    const subscribed = open.filter(({ state }) => state === "subscribed");
    const ids = subscribed.map(({ socket }) => socket.client).toSorted();
    expect(await present(channel)).toStrictEqual(ids);
    for (const variant of variants) {
      // An object without subscribers must not be running anything.
      await variant.connect(channel, "observer");
      await hibernate(variant.place.holder(channel));
    }
    expect(await present(channel)).toStrictEqual(ids);
    for (const { socket } of open) await socket.unread();
    await publish(channel, "for those who stayed");
    for (const { socket, state } of open) {
      const received = (await socket.unread()).filter((line) =>
        line.includes("for those who stayed"),
      );
      expect(received).toHaveLength(state === "subscribed" ? 1 : 0);
    }
  });
});
