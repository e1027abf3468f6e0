import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { publish } from "../support/api-request.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace, spillPlace } from "../support/place.ts";
import { subscribePastJoin, pushLine } from "../presence/presence-pushes.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import { awake } from "../support/object-state.ts";

afterEach(() => {
  watchedRelay.deliveryFault = undefined;
  vi.useRealTimers();
});

/** When a channel's alarm rings, ms since 1970; null for never. */
function alarmOf(channel: string): Promise<number | null> {
  return runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage }) =>
    storage.getAlarm(),
  );
}

/** Has the alarm of a channel ring in whatever instance there is. */
async function runAlarm(channel: string): Promise<void> {
  expect(await runDurableObjectAlarm(env.CHANNELS.getByName(channel))).toBe(true);
}

const variants = [gatewayPlace(), spillPlace].map((place) => new Variant(place, awake));

describe.each(variants)(
  "a channel's object that crashes, with subscribers on $place.name",
  (variant) => {
    it("[L4] between commit and delivery loses nothing: an alarm makes the gateway read it", async () => {
      const channel = newChannel("room");
      const socket = await subscribePastJoin(variant, channel, "ada");
      await publish(channel, 1);
      const first = await socket.line();
      await watchedRelay.settled();
      watchedRelay.deliveryFault = lostCall;
      for (const data of [2, 3]) await publish(channel, data);
      const dueInMs = ((await alarmOf(channel)) ?? 0) - Date.now();
      expect(dueInMs).toBeGreaterThan(0);
      expect(dueInMs).toBeLessThanOrEqual(limits.crashAlarmMs);
      await crashObject(env.CHANNELS.getByName(channel));
      watchedRelay.deliveryFault = undefined;
      expect(await socket.unread()).toStrictEqual([]);
      await runAlarm(channel);
      expect(first).toContain('"data":1,"offset":1');
      for (const offset of [2, 3]) {
        expect(await socket.line()).toBe(
          pushLine(channel, "pub", `{"data":${offset},"offset":${offset}}`),
        );
      }
      await publish(channel, 4);
      expect(await socket.unread()).toStrictEqual([
        pushLine(channel, "pub", '{"data":4,"offset":4}'),
      ]);
    });

    it("[L3] is noticed with the next publication, too: the gateway reads the missing ones before it", async () => {
      const channel = newChannel("room");
      const socket = await subscribePastJoin(variant, channel, "ada");
      await publish(channel, 1);
      await socket.unread();
      watchedRelay.deliveryFault = lostCall;
      for (const data of [2, 3]) await publish(channel, data);
      await crashObject(env.CHANNELS.getByName(channel));
      watchedRelay.deliveryFault = undefined;
      for (const data of [4, 5]) await publish(channel, data);
      for (const offset of [2, 3, 4, 5]) {
        expect(await socket.line()).toBe(
          pushLine(channel, "pub", `{"data":${offset},"offset":${offset}}`),
        );
      }
      expect(await socket.unread()).toStrictEqual([]);
    });

    it("[L4] after delivery and before its answer delivers nothing twice", async () => {
      const channel = newChannel("room");
      const socket = await subscribePastJoin(variant, channel, "ada");
      await watchedRelay.settled();
      watchedRelay.deliveryFault = async ({ proceed }) => {
        await proceed();
        return lostCall();
      };
      await publish(channel, 1);
      expect(await socket.line()).toContain('"data":1,"offset":1');
      await crashObject(env.CHANNELS.getByName(channel));
      watchedRelay.deliveryFault = undefined;
      await runAlarm(channel);
      expect(await socket.unread()).toStrictEqual([]);
      await publish(channel, 2);
      expect(await socket.unread()).toStrictEqual([
        pushLine(channel, "pub", '{"data":2,"offset":2}'),
      ]);
    });

    it("[L4][R2] loses nothing either if the gateway hibernated meanwhile, and its clients reconnect", async () => {
      const channel = newChannel("room");
      const [ada, bob] = [
        await subscribePastJoin(variant, channel, "ada"),
        await subscribePastJoin(variant, channel, "bob"),
      ];
      await ada.line(); // Bob's join
      await watchedRelay.settled();
      watchedRelay.deliveryFault = lostCall;
      const { epoch } = await publish(channel, 1);
      await crashObject(env.CHANNELS.getByName(channel));
      await crashObject(variant.place.holder(channel));
      await ada.closed;
      watchedRelay.deliveryFault = undefined;
      const back = await variant.connect(channel, "ada");
      const options = { recover: true, epoch: "", offset: 0 };
      expect(await back.ask({ id: 2, subscribe: { channel, ...options } })).toMatchObject({
        subscribe: { recovered: true, epoch, publications: [{ data: 1, offset: 1 }] },
      });
      await runAlarm(channel);
      expect((await back.unread()).filter((line) => line.includes('"pub"'))).toStrictEqual([]);
      expect((await bob.closed).code).toBe(1006);
    });
  },
);

describe("the alarm for a crash", () => {
  it("[L4] is set once in 8 s, however many publications there are, and calls no gateway without a reason", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const channel = newChannel("room");
    const variant = new Variant(gatewayPlace(), awake);
    const socket = await subscribePastJoin(variant, channel, "ada");
    await watchedRelay.settled();
    // The one that was set for the join.
    vi.setSystemTime((await alarmOf(channel)) ?? 0);
    await runAlarm(channel);
    const stub = env.CHANNELS.getByName(channel);
    const alarms: number[] = [];
    await runInDurableObject(stub, (_, { storage }) => {
      const setAlarm = storage.setAlarm.bind(storage);
      vi.spyOn(storage, "setAlarm").mockImplementation((time) => {
        alarms.push(Number(time));
        return setAlarm(time);
      });
    });
    const startMs = Date.now();
    for (let count = 0; count < 20; count++) {
      await publish(channel, count);
      await socket.line();
      await watchedRelay.settled();
      vi.setSystemTime(Date.now() + 300);
    }
    expect(alarms).toStrictEqual([startMs + limits.crashAlarmMs]);
    const before = watchedRelay.deliveries.length;
    vi.setSystemTime(startMs + limits.crashAlarmMs);
    await runAlarm(channel);
    await watchedRelay.settled();
    expect(watchedRelay.deliveries.slice(before)).toStrictEqual([]);
  });

  it("[L4] is set again as long as a gateway can't be reached, however often the object crashes", async () => {
    const channel = newChannel("room");
    const variant = new Variant(gatewayPlace(), awake);
    const socket = await subscribePastJoin(variant, channel, "ada");
    await socket.unread();
    watchedRelay.deliveryFault = lostCall;
    await publish(channel, 1);
    for (let count = 0; count < 3; count++) {
      await crashObject(env.CHANNELS.getByName(channel));
      await runAlarm(channel);
      const dueInMs = ((await alarmOf(channel)) ?? 0) - Date.now();
      expect(dueInMs).toBeGreaterThan(0);
      expect(dueInMs).toBeLessThanOrEqual(limits.crashAlarmMs);
      // A second one, in the instance that waits to try again.
      await runAlarm(channel);
      expect(((await alarmOf(channel)) ?? 0) - Date.now()).toBeLessThanOrEqual(limits.crashAlarmMs);
    }
    watchedRelay.deliveryFault = undefined;
    await crashObject(env.CHANNELS.getByName(channel));
    await runAlarm(channel);
    expect(await socket.line()).toContain('"data":1,"offset":1');
    expect(await socket.unread()).toStrictEqual([]);
  });

  it("[L4] isn't set for a channel without gateways, nor for one without history", async () => {
    const [alone, plain] = [newChannel("room"), newChannel("plain")];
    await publish(alone, 1);
    const variant = new Variant(gatewayPlace(), awake);
    const socket = await variant.subscribe(plain, "ada");
    await publish(plain, 1);
    await socket.line();
    // The stream's own end is a month away.
    expect((await alarmOf(alone)) ?? 0).toBeGreaterThan(Date.now() + 86_400_000);
    // The gateway is asked after three hours whether it still follows (rule L8).
    expect((await alarmOf(plain)) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(
      Date.now() + 3_600_000,
    );
  });
});
