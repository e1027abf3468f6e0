import { afterEach, describe, expect, it } from "vitest";
import type { RelayBatchReply } from "../../../src/contract/relay-batch.ts";
import { publish } from "../support/api-request.ts";
import { lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { subscribePastJoin, pushLine } from "../presence/presence-pushes.ts";
import {
  type DeliveryFault,
  watchedRelay,
  type WatchedDelivery,
} from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awake } from "../support/object-state.ts";

afterEach(() => {
  watchedRelay.deliveryFault = undefined;
});

const [here, near, far] = [
  new Variant(channelPlace, awake),
  new Variant(gatewayPlace(0), awake),
  new Variant(gatewayPlace(1), awake),
];

/** Only the first so many deliveries to a gateway go this way. */
function faulty(gateway: string, count: number, fault: DeliveryFault): DeliveryFault {
  let left = count;
  return (delivery) =>
    delivery.gateway === gateway && left-- > 0 ? fault(delivery) : delivery.proceed();
}

/** The pushes of publications 1 to `count`, without the epoch of the first one. */
function pushes(channel: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    pushLine(channel, "pub", `{"data":${index + 1},"offset":${index + 1}}`),
  );
}

async function received(socket: TestSocket, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  while (lines.length < count) lines.push((await socket.line()).replace(/,"epoch":"\w+"/, ""));
  return lines;
}

/** Deliveries that the test makes at last. */
const overtaken: WatchedDelivery[] = [];

const faults: readonly (readonly [string, DeliveryFault])[] = [
  ["lost", lostCall],
  [
    "carried out, and its answer lost",
    async ({ proceed }) => {
      await proceed();
      return lostCall();
    },
  ],
  [
    "repeated",
    async ({ proceed }) => {
      await proceed();
      return proceed();
    },
  ],
  [
    "given up, and carried out after those that came later",
    (delivery) => {
      overtaken.push(delivery);
      return lostCall();
    },
  ],
];

describe("a call to a gateway that is", () => {
  it.each(faults)(
    "[L1] %s: every subscriber gets everything, in order and once",
    async (_, fault) => {
      const channel = newChannel("room");
      const sockets: TestSocket[] = [];
      for (const variant of [here, near, far])
        sockets.push(await subscribePastJoin(variant, channel, "ada"));
      for (const socket of sockets) await socket.unread();
      watchedRelay.deliveryFault = faulty(`${channel}/0`, 3, fault);
      for (const data of [1, 2, 3, 4, 5]) await publish(channel, data);
      for (const socket of sockets) {
        expect(await received(socket, 5)).toStrictEqual(pushes(channel, 5));
      }
      watchedRelay.deliveryFault = undefined;
      for (const { proceed } of overtaken.splice(0)) await proceed();
      await publish(channel, 6);
      for (const socket of sockets) {
        expect(await socket.line()).toBe(pushes(channel, 6).at(-1));
        expect(await socket.unread()).toStrictEqual([]);
      }
    },
  );

  it("[L2] slow doesn't slow the others, and later entries share the next call", async () => {
    const channel = newChannel("room");
    const [one, other] = [
      await subscribePastJoin(near, channel, "ada"),
      await subscribePastJoin(far, channel, "bob"),
    ];
    await one.unread();
    await other.unread();
    const released = Promise.withResolvers<undefined>();
    const slow: WatchedDelivery[] = [];
    watchedRelay.deliveryFault = (delivery): Promise<RelayBatchReply> => {
      if (delivery.gateway !== `${channel}/0`) return delivery.proceed();
      slow.push(delivery);
      return slow.length === 1
        ? released.promise.then(() => delivery.proceed())
        : delivery.proceed();
    };
    for (let data = 1; data <= 9; data++) {
      await publish(channel, data);
      expect(await other.line()).toContain(`"data":${data},"offset":${data}`);
    }
    expect(slow).toHaveLength(1);
    released.resolve(undefined);
    expect(await received(one, 9)).toStrictEqual(pushes(channel, 9));
    expect(slow.map(({ batch }) => batch.entries.length)).toStrictEqual([1, 8]);
  });
});
