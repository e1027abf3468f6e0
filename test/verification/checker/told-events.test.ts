import { describe, expect, it } from "vitest";
import type { EventTaken } from "./history-event.ts";
import { HistoryBuilder } from "./history-builder.ts";

const object = "gateway/any/0";
const home = "home/7";
/** The names under which the builder's client `s1` is told of. */
const ada = { client: "id-s1", user: "ada" } as const;

/** A history in whose beginning it stands of what the backend is told; each object keeps three events. */
class Told {
  readonly history = new HistoryBuilder();
  readonly #numbers = new Map<string, number>();

  constructor() {
    const { channel } = this.history;
    const wanted = { type: "info", f: "events", channels: [channel], keepMax: 3 } as const;
    this.history.add({ process: "prove", ...wanted });
  }

  /** Ada connects, subscribes and publishes one value, and the backend is told so. */
  static begun(): Told {
    const told = new Told();
    const { history } = told;
    history.connect("s1", "ada").subscribe("s1").publish("v").deliver("s1", 1, "v");
    return told
      .event("user_online", { user: "ada", object: home })
      .event("connected", ada)
      .event("channel_occupied", { channel: history.channel, object: channelObject })
      .event("subscribed", { ...ada, channel: history.channel })
      .event("publication", { ...placed, channel: history.channel, object: channelObject });
  }

  /** Ada leaves, and the backend is told so. */
  ended(): this {
    const { channel } = this.history;
    this.history.detach("s1");
    return this.event("unsubscribed", { ...ada, channel })
      .event("disconnected", ada)
      .event("channel_vacated", { channel, object: channelObject })
      .event("user_offline", { user: "ada", object: home });
  }

  /** The backend takes the next event of an object, unless another number is given. */
  event(event: string, about: Partial<EventTaken>): this {
    const from = about.object ?? object;
    const last = this.#numbers.get(from);
    const number = about.number ?? (last ?? 100) + 1;
    this.#numbers.set(from, Math.max(number, last ?? 0));
    const first = last === undefined ? { first: true } : {};
    const common = { process: "events", type: "ok", f: "event", object } as const;
    this.history.add({ ...common, event, ...first, ...about, number });
    return this;
  }

  /** Everything must have been told. */
  over(): readonly string[] {
    const told = { process: "prove", type: "info", f: "told" } as const;
    this.history.add({ ...told, what: "connections" }).add({ ...told, what: "everything" });
    return this.history.check().violations.map(({ kind, text }) => `${kind} ${text}`);
  }
}

const channelObject = "channel/stream:a";
const placed = { value: "v", offset: 1, epoch: "e1" } as const;

describe("the events of objects", () => {
  it("[E2] [E8] [E10] [E11] keep the guarantees if they tell what happened", () => {
    expect(Told.begun().ended().over()).toEqual([]);
  });

  it("[E2] may come again", () => {
    const told = Told.begun().event("connected", { ...ada, number: 101, first: true });
    expect(told.ended().over()).toEqual([]);
    const { events, counts } = told.history.check();
    expect(events.get("connected")).toBe(1);
    expect(counts.repeatedEvents).toBe(1);
  });

  it("[E8] may tell of a connection and a subscription whose client got no reply", () => {
    const told = Told.begun();
    const other = { client: "other", user: "ada" } as const;
    const { channel } = told.history;
    told.event("connected", other).event("subscribed", { ...other, channel });
    told.event("unsubscribed", { ...other, channel }).event("disconnected", other);
    expect(told.ended().over()).toEqual([]);
  });

  it.each<[string, (told: Told, channel: string) => Told, readonly string[]]>([
    [
      "a number is missing",
      (told) => told.event("user_offline", { user: "ada", object: home, number: 103 }),
      ["untold home/7 told 103 after 101, and nothing in between"],
    ],
    [
      "an object begins with a later number",
      (told) =>
        told
          .event("user_online", { user: "eve", object: "home/8", first: false })
          .event("user_offline", { user: "eve", object: "home/8" }),
      ["untold home/8 began with 101, not with its first"],
    ],
    [
      "an object begins anew",
      (told) =>
        told
          .event("user_online", { user: "eve", object: home, first: true })
          .event("user_offline", { user: "eve", object: home }),
      ["mistold user_online eve (home/7, 102) is called the first, after 101"],
    ],
    [
      "a gap is told of events that were kept",
      (told) => told.event("gap", { from: 103, to: 105, number: 105 }),
      ["untold gateway/any/0 told a gap from 103 to 105, which it had kept"],
    ],
    [
      "a user comes online twice",
      (told) => told.event("user_online", { user: "ada", object: home }),
      ["mistold user_online ada (home/7, 102) was told before"],
    ],
    [
      "a channel is occupied twice",
      (told, channel) => told.event("channel_occupied", { channel, object: channelObject }),
      ["mistold channel_occupied stream:a (channel/stream:a, 103) was told before"],
    ],
    [
      "a client connects twice",
      (told) => told.event("connected", ada),
      ["mistold connected id-s1 of ada (gateway/any/0, 103): it was told to be connected before"],
    ],
    [
      "a connection is another user's",
      (told) =>
        told
          .event("connected", { client: "x", user: "ada" })
          .event("disconnected", { client: "x", user: "eve" }),
      ["mistold disconnected x of eve (gateway/any/0, 104): it was told to be ada"],
    ],
    [
      "a client that didn't connect is subscribed",
      (told, channel) =>
        told
          .event("subscribed", { client: "x", user: "x", channel })
          .event("unsubscribed", { client: "x", user: "x", channel }),
      ["mistold subscribed x of x (gateway/any/0, 103): it isn't connected"],
    ],
    [
      "a client is told of by two objects",
      (told, channel) =>
        told
          .event("unsubscribed", { ...ada, channel, object: home })
          .event("subscribed", { ...ada, channel }),
      ["mistold unsubscribed id-s1 of ada (home/7, 102): it was told by gateway/any/0 before"],
    ],
    [
      "a publication is told twice",
      (told, channel) => told.event("publication", { ...placed, channel, object: channelObject }),
      ["mistold the publication v (channel/stream:a, 103) was told before"],
    ],
    [
      "a publication is told with another offset",
      (told, channel) => {
        told.history.publish("w").deliver("s1", 2, "w");
        const other = { value: "w", offset: 3, epoch: "e1", object: channelObject } as const;
        return told.event("publication", { ...other, channel });
      },
      ["mistold the publication w (channel/stream:a, 103) is at e1:3, and others saw it at e1:2"],
    ],
    [
      "a publication is told that nobody published",
      (told, channel) =>
        told.event("publication", { ...placed, value: "x", channel, object: channelObject }),
      ["mistold the publication x (channel/stream:a, 103) was published by nobody"],
    ],
    [
      "a refused publication is told",
      (told, channel) => {
        told.history.invoke("x").refuse("x");
        return told.event("publication", { ...placed, value: "x", channel, object: channelObject });
      },
      ["mistold the publication x (channel/stream:a, 103) had been refused"],
    ],
    [
      "an acknowledged publication isn't told",
      (told) => {
        told.history.publish("w").deliver("s1", 2, "w");
        return told;
      },
      ["untold w was published, and never told"],
    ],
  ])("[E1] [E2] [E8] [E13] are violated if %s", (_, change, violations) => {
    const told = Told.begun();
    const happened = change(told, told.history.channel).ended().over();
    expect(happened.filter((line) => violations.includes(line))).toEqual(violations);
  });

  it.each<[string, string, string]>([
    ["a connection", "disconnected", "untold id-s1 was never told to be disconnected"],
    ["a channel", "channel_vacated", "untold stream:a was never told to be vacated"],
    ["a user", "user_offline", "untold ada was never told to be offline"],
  ])("[E9] [E10] [E11] are violated if the end of %s isn't told", (_, missing, line) => {
    const told = Told.begun().ended();
    const { happenings } = told.history;
    const index = happenings.findIndex((event) => event.f === "event" && event.event === missing);
    happenings.splice(index, 1);
    expect(told.over()).toContain(line);
  });

  it("[E8] are violated if a client's connection or subscription isn't told", () => {
    const told = new Told();
    told.history.connect("s1", "ada").subscribe("s1");
    expect(told.over()).toEqual([
      "untold id-s1 of ada was never told to be connected",
      "untold id-s1 was subscribed to stream:a 1 times, and told 0 times",
      "untold ada was never told to be online",
    ]);
  });

  it("[E8] [E10] are violated if somebody is present when all has settled, and wasn't told", () => {
    const told = Told.begun();
    told.history.settle().presence("id-s1");
    expect(told.history.check().violations).toEqual([]);
    const late = new Told();
    late.history.connect("s1", "ada").subscribe("s1").settle().presence("id-s1");
    expect(late.history.check().violations.map(({ text }) => text)).toEqual([
      "id-s1 is connected, and was told to be new",
      "stream:a has subscribers, and was not told to be occupied",
    ]);
  });

  it("[E6] may lack what a gap names, if as many newer events were kept", () => {
    const told = Told.begun().event("gap", { from: 103, to: 105, number: 105 });
    for (const client of ["x", "y"])
      told
        .event("connected", { client, user: "eve" })
        .event("disconnected", { client, user: "eve" });
    told.event("user_online", { user: "eve", object: home });
    told.event("user_offline", { user: "eve", object: home });
    expect(told.ended().over()).toEqual([]);
  });
});
