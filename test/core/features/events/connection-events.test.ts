import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventsConfig } from "../../../../src/features/events/config.ts";
import { ConnectionEvents } from "../../../../src/features/events/connection-events.ts";
import { connectionLost } from "../../../../src/protocol/codes.ts";
import { Outbox } from "../../../../src/features/events/outbox.ts";
import { ReportedTable } from "../../../../src/features/events/reported-table.ts";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { eventsConfig, published } from "./outbox-fixture.ts";

const allTypes: EventsConfig["types"] = new Set([
  "connected",
  "disconnected",
  "subscribed",
  "unsubscribed",
]);

/** A connection of the model: the object keeps it as long as its socket lives. */
interface Held {
  readonly client: string;
  readonly user: string;
  connected: boolean;
  readonly channels: Set<string>;
}

/** One object with connections, whose memory and whose sockets may be lost. */
class ModelObject {
  readonly sql = new NodeSql();
  readonly held = new Map<string, Held>();
  readonly config: EventsConfig;
  events: ConnectionEvents;
  outbox: Outbox;
  nowMs = 1_000_000;

  constructor(more: Partial<EventsConfig> = {}) {
    this.config = eventsConfig({ types: allTypes, keepMax: 100_000, ...more });
    this.outbox = new Outbox({ sql: this.sql, object: "gateway/eu/0", config: this.config });
    this.events = this.#wake(this.config);
  }

  /** Makes a fresh instance, perhaps of another configuration. Without its sockets after a crash. */
  restart(crashed: boolean, config: EventsConfig = this.config): void {
    if (crashed) this.held.clear();
    this.outbox = new Outbox({ sql: this.sql, object: "gateway/eu/0", config });
    this.events = this.#wake(config);
  }

  connect(client: string, user = "ada"): void {
    const one: Held = { client, user, connected: false, channels: new Set() };
    this.held.set(client, one);
    this.events.connected(one, { transport: "websocket" });
    one.connected = true;
  }

  disconnect(client: string, code = { code: 1000, reason: "" }): void {
    const one = this.#find(client);
    for (const channel of one.channels) this.unsubscribe(client, channel);
    this.events.disconnected(one, code);
    one.connected = false;
    this.held.delete(client);
  }

  subscribe(client: string, channel: string): void {
    const one = this.#find(client);
    this.events.subscribed(one, channel, {});
    one.channels.add(channel);
  }

  unsubscribe(client: string, channel: string): void {
    const one = this.#find(client);
    this.events.unsubscribed(one, channel, undefined);
    one.channels.delete(channel);
  }

  /** All events so far, in words. */
  told(): readonly string[] {
    return this.outbox.stored(0, [...allTypes]).map(({ body }) => {
      const event: { type: string; client: string; channel?: string; code?: number } = JSON.parse(
        `{${body}}`,
      );
      return [event.type, event.client, event.channel, event.code]
        .filter((word) => word !== undefined)
        .join(" ");
    });
  }

  #find(client: string): Held {
    const one = this.held.get(client);
    if (one === undefined) throw new Error(`no client ${client}`);
    return one;
  }

  #wake(config: EventsConfig): ConnectionEvents {
    return new ConnectionEvents({
      config,
      outbox: this.outbox,
      table: new ReportedTable(this.sql),
      sessions: () => this.held.values(),
      namespaceOf: (channel) => channel.split(":")[0] ?? "",
      nowMs: () => this.nowMs,
    });
  }
}

describe("the events of connections", () => {
  it("[E9] say after a crash who is gone, and nothing after hibernation", () => {
    const object = new ModelObject();
    object.connect("a");
    object.subscribe("a", "x:1");
    object.connect("b");
    const before = object.told();
    object.restart(false);
    object.events.compare();
    expect(object.told()).toEqual(before);
    object.restart(true);
    object.connect("c");
    const lost = connectionLost.code;
    expect(object.told().slice(before.length)).toEqual([
      "unsubscribed a x:1",
      `disconnected a ${lost}`,
      `disconnected b ${lost}`,
      "connected c",
    ]);
    object.restart(false);
    object.events.compare();
    expect(object.told()).toHaveLength(before.length + 4);
  });

  it("[E9] come by an alarm, as long as there is a connection", () => {
    const object = new ModelObject();
    expect(object.events.alarmAtMs(5)).toBe(Number.POSITIVE_INFINITY);
    object.connect("a");
    expect(object.events.alarmAtMs(5)).toBe(5 + eventLimits.eventsConnectionsCheckMs);
    object.restart(true);
    expect(object.events.alarmAtMs(5)).toBe(5 + eventLimits.eventsConnectionsCheckMs);
    object.events.compare();
    expect(object.events.alarmAtMs(5)).toBe(Number.POSITIVE_INFINITY);
  });

  it("[E8] come only of types and namespaces that are listed", () => {
    const object = new ModelObject({
      types: new Set(["subscribed", "unsubscribed"]),
      namespaces: new Set(["x"]),
    });
    object.connect("a");
    object.subscribe("a", "x:1");
    object.subscribe("a", "y:1");
    object.restart(true);
    object.events.compare();
    expect(object.told()).toEqual(["subscribed a x:1", "unsubscribed a x:1"]);
  });

  it("[E8] tell of connections that were there before the types were listed", () => {
    const object = new ModelObject({ types: new Set(["connected", "disconnected"]) });
    object.connect("a");
    object.subscribe("a", "x:1");
    object.restart(false, { ...object.config, types: allTypes });
    object.connect("b");
    expect(object.told()).toEqual(["connected a", "subscribed a x:1", "connected b"]);
  });

  it("[E9] [E7] need a list of connections only now and then, and it costs a row for thousands", () => {
    const object = new ModelObject({ keepMax: 100 });
    const rows = () => object.sql.rows("SELECT number FROM told");
    for (let count = 0; count < 50; count++) object.connect(`c${count}`);
    expect(() => rows()).toThrow("told");
    object.connect("last");
    expect(rows()).toEqual([{ number: 1_000_049 }]);
    for (let count = 0; count < 49; count++) object.disconnect(`c${count}`);
    expect(rows()).toHaveLength(1);
    object.restart(true);
    object.events.compare();
    expect(object.told().slice(-2)).toEqual(["disconnected c49 1006", "disconnected last 1006"]);
  });

  it("[E9] [B1] list thousands of connections in a few rows, and find all of them gone", () => {
    const object = new ModelObject();
    const user = "x".repeat(100);
    for (let count = 0; count < 2 * eventLimits.eventsCheckpointEvery; count++)
      object.connect(`c${count}`, user);
    const rows = object.sql.rows("SELECT number FROM told");
    expect(rows).toEqual([{ number: 1_000_000 + eventLimits.eventsCheckpointEvery - 1 }]);
    object.connect("last", user);
    expect(object.sql.rows("SELECT chunk FROM told")).toEqual([{ chunk: 0 }, { chunk: 1 }]);
    object.restart(true);
    object.events.compare();
    const ends = object.told().filter((words) => words.startsWith("disconnected"));
    expect(new Set(ends).size).toBe(2 * eventLimits.eventsCheckpointEvery + 1);
  });

  it.each([
    { bound: "keep_max", keepMax: 100, count: 250, length: 1 },
    { bound: "64 MiB", keepMax: 10_000, count: 70, length: 1_000_000 },
  ])("[E13] [E18] end what began before so many publications that $bound is reached", (one) => {
    const object = new ModelObject({ keepMax: one.keepMax });
    const publish = (): void => {
      for (let count = 0; count < one.count; count++)
        object.outbox.append(published("1".repeat(one.length)), object.nowMs);
    };
    object.connect("a");
    object.subscribe("a", "x:1");
    object.connect("b");
    publish();
    object.disconnect("b");
    publish();
    object.restart(true);
    object.events.compare();
    expect(object.told()).toEqual(["unsubscribed a x:1", "disconnected a 1006"]);
    publish();
    object.connect("c");
    object.restart(true);
    object.events.compare();
    expect(object.told()).toEqual(["connected c", "disconnected c 1006"]);
  });

  it("[E9] name the user of a connection that was being made when the list was stored", () => {
    const object = new ModelObject({ keepMax: 100 });
    // Its socket is open, and nobody knows yet whose it is.
    object.held.set("late", { client: "late", user: "", connected: false, channels: new Set() });
    for (let count = 0; count < 60; count++) object.connect(`c${count}`);
    expect(object.sql.rows("SELECT number FROM told")).toHaveLength(1);
    object.connect("late", "eve");
    object.restart(true);
    object.events.compare();
    const ends = object.outbox.after(0, 200, object.nowMs).map((text): object => JSON.parse(text));
    const ended = { type: "disconnected", client: "late" };
    expect(ends).toContainEqual(expect.objectContaining({ ...ended, user: "eve" }));
    expect(ends).not.toContainEqual(expect.objectContaining({ ...ended, user: "" }));
  });

  it("[E8] [E13] [E9] tell each client's story in order and to its end, whatever crashes", () => {
    const step = fc.record({
      kind: fc.constantFrom("connect", "disconnect", "subscribe", "unsubscribe", "sleep", "crash"),
      client: fc.constantFrom("a", "b", "c"),
      channel: fc.constantFrom("x:1", "x:2"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), fc.boolean(), (steps, small) => {
        // The small ring wraps, and its checkpoints are 50 events apart. What it dropped was delivered.
        const object = new ModelObject(small ? { keepMax: 100 } : {});
        const all: string[] = [];
        let seen = 0;
        const collect = (): void => {
          const { first, last } = object.outbox;
          const told = object.told();
          all.push(...told.slice(told.length - (last - Math.max(seen, first - 1))));
          seen = last;
        };
        for (const { kind, client, channel } of steps) {
          const held = object.held.get(client);
          if (kind === "sleep" || kind === "crash") object.restart(kind === "crash");
          else if (kind === "connect") {
            if (held === undefined) object.connect(client);
          } else if (held === undefined) continue;
          else if (kind === "disconnect") object.disconnect(client);
          else if (kind === "subscribe" && !held.channels.has(channel))
            object.subscribe(client, channel);
          else if (kind === "unsubscribe" && held.channels.has(channel))
            object.unsubscribe(client, channel);
          if (object.outbox.last > 0) collect();
        }
        object.restart(true);
        object.events.compare();
        if (object.outbox.last > 0) collect();
        expect(faultsIn(all)).toEqual([]);
      }),
    );
  });
});

/** What is wrong: a begin that isn't followed by one end, or a subscription outside of its connection. */
function faultsIn(told: readonly string[]): readonly string[] {
  const faults: string[] = [];
  const open = new Set<string>();
  for (const words of told) {
    const [type = "", client = "", channel = ""] = words.split(" ");
    const isSubscription = type.endsWith("subscribed");
    const one = isSubscription ? `${client} ${channel}` : client;
    const begins = type === "connected" || type === "subscribed";
    if (open.has(one) === begins || (isSubscription && !open.has(client))) faults.push(words);
    if (begins) open.add(one);
    else open.delete(one);
    if (type === "disconnected" && [...open].some((other) => other.startsWith(`${client} `)))
      faults.push(words);
  }
  return [...faults, ...open];
}
