import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { crashObject } from "../support/crash-object.ts";
import {
  answerWith,
  takenOf,
  takenUntil,
  withoutRepeats,
  configureEvents,
} from "./event-receiver.ts";
import { eventObjectOf, ofBothKinds, story } from "./event-story.ts";
import { newChannel } from "../support/new-channel.ts";
import { awakeVariants, variants } from "../support/variant.ts";
import { patience } from "../../support/patience.ts";

configureEvents({
  types: ["connected", "disconnected", "subscribed", "unsubscribed"],
  namespaces: ["room"],
});

afterEach(() => answerWith(200));

/** No pings are due then, which would wake the object anyway. */
const clientDriven = "?keepalive=client";
const newUser = () => `user-${crypto.randomUUID()}`;

describe.each(variants)("the events of connections on $name", (variant) => {
  it("[E8] [E13] tell a connection from its connect to its close by the client", async () => {
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.connect(channel, user, { info: { n: 1 } });
    const { client } = socket;
    await variant.betweenSteps(channel);
    await socket.ask({ id: 2, subscribe: { channel } });
    await socket.unread();
    await variant.betweenSteps(channel);
    await socket.ask({ id: 3, unsubscribe: { channel } });
    await variant.betweenSteps(channel);
    await socket.ask({ id: 4, subscribe: { channel } });
    await socket.unread();
    await variant.betweenSteps(channel);
    socket.close(4_001);
    await socket.closed;
    expect(await story(variant, channel, client)).toStrictEqual([
      "connected",
      "subscribed",
      "unsubscribed",
      "subscribed",
      "unsubscribed",
      "disconnected 4001",
    ]);
    const object = eventObjectOf(variant, channel);
    const events = withoutRepeats(await takenOf(object));
    const [first] = events;
    expect(first).toStrictEqual({
      object,
      number: first?.time,
      time: first?.time,
      first: true,
      type: "connected",
      client,
      user,
      transport: "websocket",
      info: { n: 1 },
    });
    expect(events[1]).toMatchObject({ type: "subscribed", channel, client, user });
    expect(events.map(({ number }) => number - (first?.number ?? 0))).toStrictEqual(
      events.map((_, index) => index),
    );
  });
});

describe.each(ofBothKinds(awakeVariants))("a crash of the object of $place.name", (variant) => {
  it("[E9] is found by an alarm within 10 minutes, and all its connections are told of", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await variant.connect(channel, newUser(), {}, clientDriven),
      await variant.connect(channel, newUser(), {}, clientDriven),
    ];
    await ada.ask({ id: 2, subscribe: { channel } });
    const holder = variant.place.holder(channel);
    const object = eventObjectOf(variant, channel);
    await takenUntil(object, ({ type }) => type === "subscribed");
    // Those before are for what waits to be sent.
    const dueInMs = await vi.waitUntil(async () => {
      await runDurableObjectAlarm(holder);
      const dueAtMs = await runInDurableObject<DurableObject, number | null>(
        holder,
        (_, { storage }) => storage.getAlarm(),
      );
      const waitMs = (dueAtMs ?? 0) - Date.now();
      return waitMs > eventLimits.eventsAlarmMs && waitMs;
    }, patience);
    expect(dueInMs).toBeLessThanOrEqual(eventLimits.eventsConnectionsCheckMs);
    await crashObject(holder);
    await ada.closed;
    expect(await runDurableObjectAlarm(variant.place.holder(channel))).toBe(true);
    const lost = "disconnected 1006 connection lost";
    expect(await story(variant, channel, ada.client)).toStrictEqual([
      "connected",
      "subscribed",
      "unsubscribed",
      lost,
    ]);
    expect(await story(variant, channel, bob.client)).toStrictEqual(["connected", lost]);
  });

  it("[E9] before a batch was taken loses none of its events", async () => {
    const channel = newChannel("room");
    await answerWith(500);
    const socket = await variant.subscribe(channel, newUser());
    await socket.unread();
    await crashObject(variant.place.holder(channel));
    await answerWith(200);
    const again = await variant.subscribe(channel, newUser());
    await again.unread();
    expect(await story(variant, channel, socket.client)).toStrictEqual([
      "connected",
      "subscribed",
      "unsubscribed",
      "disconnected 1006 connection lost",
    ]);
  });
});
