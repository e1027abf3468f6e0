import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { limits } from "../../../src/limits.ts";
import { call } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { crashObject } from "../support/crash-object.ts";
import {
  configureEvents,
  type TakenEvent,
  takenWhen,
  toldOfUser,
  withoutRepeats,
} from "./event-receiver.ts";
import { ofBothKinds } from "./event-story.ts";
import { newChannel } from "../support/new-channel.ts";
import type { Holder } from "../support/place.ts";
import { awakeVariants, variants } from "../support/variant.ts";
import { patience } from "../../support/patience.ts";

configureEvents({
  types: ["user_online", "user_offline", "channel_occupied", "channel_vacated"],
  namespaces: ["room", "plain"],
});

afterEach(() => {
  vi.useRealTimers();
});

const newUser = () => `user-${crypto.randomUUID()}`;
const homeOf = (user: string) => env.USERS.getByName(homeName(user));
const channelOf = (channel: string) => env.CHANNELS.getByName(channel);

/** The types of so many events of a channel, once they have come. */
async function toldOfChannel(channel: string, count: number): Promise<readonly string[]> {
  const isEnough = (events: readonly TakenEvent[]) => withoutRepeats(events).length >= count;
  const events = await takenWhen(`channel/${channel}`, isEnough);
  return withoutRepeats(events).map(({ type }) => type);
}

/** Has an object's alarm ring at the time for which it is set. */
async function ringWhenDue(holder: Holder): Promise<void> {
  const dueAtMs = await runInDurableObject<DurableObject, number | null>(holder, (_, { storage }) =>
    storage.getAlarm(),
  );
  if (dueAtMs === null) throw new Error("no alarm is set");
  vi.setSystemTime(Math.max(dueAtMs, Date.now()));
  await runDurableObjectAlarm(holder);
}

describe.each(variants)("the events of a channel with subscribers on $name", (variant) => {
  it("[E10] tell when it gets its first subscriber and when it has lost the last one", async () => {
    // No join or leave is announced here, at which the channel's object would find out that a gateway has left.
    const channel = newChannel("plain");
    const [one, two] = [
      await variant.subscribe(channel, newUser()),
      await variant.subscribe(channel, newUser()),
    ];
    await one.unread();
    expect(await toldOfChannel(channel, 1)).toStrictEqual(["channel_occupied"]);
    await variant.betweenSteps(channel);
    await one.ask({ id: 3, unsubscribe: { channel } });
    await variant.betweenSteps(channel);
    two.close();
    await two.closed;
    expect(await toldOfChannel(channel, 2)).toStrictEqual(["channel_occupied", "channel_vacated"]);
    await variant.betweenSteps(channel);
    await one.ask({ id: 4, subscribe: { channel } });
    expect(await toldOfChannel(channel, 3)).toStrictEqual([
      "channel_occupied",
      "channel_vacated",
      "channel_occupied",
    ]);
  });
});

describe.each(variants)("the events of users with connections on $name", (variant) => {
  it("[E11] tell when a user comes and goes, and not of each connection", async () => {
    const channel = newChannel("plain");
    const user = newUser();
    const one = await variant.connect(channel, user);
    const two = await variant.connect(channel, user);
    await variant.betweenSteps(channel);
    one.close();
    await one.closed;
    const other = newUser();
    await variant.connect(channel, other);
    expect(await toldOfUser(other, 1)).toStrictEqual(["user_online"]);
    expect(await toldOfUser(user, 1)).toStrictEqual(["user_online"]);
    await variant.betweenSteps(channel);
    await call("disconnect", { user, client: two.client });
    expect(await toldOfUser(user, 2)).toStrictEqual(["user_online", "user_offline"]);
    await hibernate(homeOf(user));
    const three = await variant.connect(channel, user);
    await variant.betweenSteps(channel);
    three.close();
    await three.closed;
    expect(await toldOfUser(user, 4)).toStrictEqual([
      "user_online",
      "user_offline",
      "user_online",
      "user_offline",
    ]);
    const { body } = await call("events", { object: `home/${homeName(user)}`, limit: 1_000 });
    expect(body).toContain(`"type":"user_offline","user":"${user}"`);
  });
});

describe.each(ofBothKinds(awakeVariants))("a crash of the object of $place.name", (variant) => {
  it("[E10] [E11] [E17] is found within an hour: the channel is vacated, and the user offline", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const channel = newChannel("room");
    const user = newUser();
    const socket = await variant.subscribe(channel, user);
    await socket.unread();
    expect(await toldOfChannel(channel, 1)).toStrictEqual(["channel_occupied"]);
    expect(await toldOfUser(user, 1)).toStrictEqual(["user_online"]);
    await crashObject(variant.place.holder(channel));
    await socket.closed;
    const startMs = Date.now();
    await vi.waitUntil(async () => {
      await ringWhenDue(channelOf(channel));
      return (
        await runInDurableObject(channelOf(channel), ({ sql }) =>
          sql.rows("SELECT 1 FROM event WHERE type = 'channel_vacated'"),
        )
      ).length;
    }, patience);
    // An alarm that repeats calls comes 8 s after the one that is due.
    const checkMs = eventLimits.eventsFollowersCheckMs + limits.crashAlarmMs;
    expect(Date.now() - startMs).toBeLessThanOrEqual(checkMs);
    vi.setSystemTime(startMs);
    await vi.waitUntil(async () => {
      await ringWhenDue(homeOf(user));
      const rows = await runInDurableObject(homeOf(user), ({ sql }) =>
        sql.rows("SELECT 1 FROM holder WHERE user = ?", user),
      );
      return rows.length === 0;
    }, patience);
    expect(Date.now() - startMs).toBeLessThanOrEqual(limits.eventsHoldersCheckMs);
    expect(await toldOfChannel(channel, 2)).toStrictEqual(["channel_occupied", "channel_vacated"]);
    expect(await toldOfUser(user, 2)).toStrictEqual(["user_online", "user_offline"]);
  });
});
