import { describe, expect, it } from "vitest";
import { call, publish } from "./api-request.ts";
import { sleep } from "./attachments.ts";
import { chance } from "./chance.ts";
import { newChannel } from "./new-channel.ts";
import { channelPlace, gatewayPlace, spillPlace } from "./place.ts";
import { relayTraffic } from "./relay-traffic.ts";
import { Setting } from "./setting.ts";
import type { TestSocket } from "./test-socket.ts";
import { awake } from "./wakefulness.ts";

const settings = [channelPlace, gatewayPlace(0), gatewayPlace(1), spillPlace].map(
  (place) => new Setting(place, awake),
);

interface Wanderer {
  readonly socket: TestSocket;
  /** What it is after all that it sent. */
  state: "subscribed" | "away" | "closed";
}

/** Subscribes, leaves or disconnects, without waiting for any answer. */
function wander(wanderer: Wanderer, channel: string, id: number, chosen: number): void {
  if (wanderer.state === "closed") return;
  if (chosen === 0) {
    wanderer.socket.close();
    wanderer.state = "closed";
  } else if (chosen < 6) {
    wanderer.socket.send({ id, subscribe: { channel } });
    wanderer.state = "subscribed";
  } else {
    wanderer.socket.send({ id, unsubscribe: { channel } });
    wanderer.state = "away";
  }
}

/** Who is present, by the connections' IDs. */
async function present(channel: string): Promise<readonly string[]> {
  const { body } = await call("presence", { channel });
  const { result }: { result: { presence: object } } = JSON.parse(body);
  return Object.keys(result.presence).toSorted();
}

describe.each([1, 2, 3, 4])("clients that come, go and vanish all the time (seed %i)", (seed) => {
  it("[G5][P1] leave no subscription behind, and miss none that they have", async () => {
    const next = chance(seed);
    const channel = newChannel("room");
    const wanderers: Wanderer[] = [];
    for (const setting of settings) {
      for (let count = 0; count < 4; count++) {
        wanderers.push({ socket: await setting.connect(channel, "ada"), state: "away" });
      }
    }
    for (let id = 10; id < 200; id++) {
      const wanderer = wanderers[next(wanderers.length)];
      if (wanderer !== undefined) wander(wanderer, channel, id, next(11));
      if (next(10) === 0) await relayTraffic.quiet();
    }
    const open = wanderers.filter(({ state }) => state !== "closed");
    for (const { socket, state } of wanderers) if (state === "closed") await socket.closed;
    for (const { socket } of open) await socket.unread();
    const subscribed = open.filter(({ state }) => state === "subscribed");
    const clients = subscribed.map(({ socket }) => socket.client).toSorted();
    expect(await present(channel)).toStrictEqual(clients);
    for (const setting of settings) {
      // Where nobody is left, nothing may be running.
      await setting.connect(channel, "witness");
      await sleep(setting.place.holder(channel));
    }
    expect(await present(channel)).toStrictEqual(clients);
    for (const { socket } of open) await socket.unread();
    await publish(channel, "for those who stayed");
    for (const { socket, state } of open) {
      const heard = (await socket.unread()).filter((line) => line.includes("for those who stayed"));
      expect(heard).toHaveLength(state === "subscribed" ? 1 : 0);
    }
  });
});
