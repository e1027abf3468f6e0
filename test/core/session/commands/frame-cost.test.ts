import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { CommandMethod } from "../../../../src/protocol/command.ts";
import { limits } from "../../../../src/limits.ts";
import { ManyChannelsFixture } from "../many-channels-fixture.ts";

const most = limits.readsUnderWayMax;
const frameBytes = limits.frameBytesMax;

/** The cheapest command of a kind, and what it has channels do. */
interface Cost {
  readonly command: object;
  /** How many calls to channels one such command makes; a read may be large, and counts for rule B16. */
  readonly calls: number;
  readonly reads: boolean;
}

const nothing = { calls: 0, reads: false };
const call = { calls: 1, reads: false };
const read = { calls: 1, reads: true };
const many = Array.from({ length: 100 }, (_, index) => `a${index}`);

/** A row for each kind of command: the compiler asks for that of a new one. */
const commands: Readonly<Record<Exclude<CommandMethod, "rpc">, Cost>> = {
  connect: { command: { id: 2, connect: {} }, ...nothing },
  // It ends the connection if the channel is subscribed already.
  subscribe: { command: { id: 2, subscribe: { channel: "b" } }, ...call },
  unsubscribe: { command: { id: 2, unsubscribe: { channel: "z" } }, ...nothing },
  publish: { command: { id: 2, publish: { channel: "a", data: 1 } }, ...call },
  presence: { command: { id: 2, presence: { channel: "a" } }, ...read },
  // Those that are asked together share one look at the channel, which these channels answer at once (rules P3 to P6).
  presence_stats: { command: { id: 2, presence_stats: { channel: "a" } }, ...nothing },
  history: { command: { id: 2, history: { channel: "a" } }, ...read },
  refresh: { command: { id: 2, refresh: { token: "t" } }, ...nothing },
  sub_refresh: { command: { id: 2, sub_refresh: { channel: "a", token: "t" } }, ...nothing },
  send: {
    command: { send: { data: { method: "dormouse.unread", data: { channels: many } } } },
    calls: many.length,
    reads: true,
  },
  ping: { command: { id: 2, ping: {} }, ...nothing },
  pong: { command: {}, ...nothing },
};

const rpc = (method: string, data: object) => ({ id: 2, rpc: { method, data } });

/** A row for each method that the server answers itself. */
const methods: Readonly<Record<string, Cost>> = {
  "dormouse.read": { command: rpc("dormouse.read", { channel: "a", offset: 1 }), ...call },
  "dormouse.unread": {
    command: rpc("dormouse.unread", { channels: many }),
    calls: many.length,
    reads: true,
  },
  "dormouse.marks": { command: rpc("dormouse.marks", { channel: "a", offset: 0 }), ...read },
  // Only a map takes it: what it writes is bounded by its bytes (rule Z46).
  "dormouse.append": {
    command: rpc("dormouse.append", { channel: "a", key: "k", text: "" }),
    ...nothing,
  },
  "dormouse.call": { command: rpc("dormouse.call", { channel: "a", procedure: "p" }), ...call },
};

describe("what one frame of 64 KiB costs at most", () => {
  it("[B16] is known of each method that the server answers itself", () => {
    const files = readdirSync("src", { recursive: true, encoding: "utf8" });
    const names = files
      .filter((path) => /\/client-methods?\.ts$/.test(path))
      .flatMap(
        (path) => readFileSync(`src/${path}`, "utf8").match(/(?<=")dormouse\.\w+(?=")/g) ?? [],
      );
    expect(Object.keys(methods).sort()).toEqual([...new Set(names)].sort());
  });

  it.each(Object.entries({ ...commands, ...methods }))(
    "[B16] [B17] of %s: a call for each command, and of reads no more than may be under way",
    (_, { command, calls, reads }) => {
      const { fixture, connection } = withEverything();
      const text = JSON.stringify(command);
      fixture.send(connection, text);
      const ofOne = callsOf(fixture);
      expect(ofOne).toBe(Math.min(calls, reads ? most : 1));
      const whole = withEverything();
      const count = Math.min(Math.floor(frameBytes / (text.length + 1)), limits.frameCommandsMax);
      expect(count).toBeGreaterThan(10);
      whole.fixture.send(whole.connection, Array.from({ length: count }, () => text).join("\n"));
      expect(callsOf(whole.fixture)).toBeLessThanOrEqual(reads ? most : count * calls);
    },
  );
});

/** How many calls channels got, beside that a client has left. */
function callsOf({ channels }: ManyChannelsFixture): number {
  return channels.takeCalls().filter((called) => !called.startsWith("leave")).length;
}

/** A client of channels that have all that clients may ask for. */
function withEverything() {
  const fixture = new ManyChannelsFixture({
    options: {
      allow_history_for_client: true,
      allow_presence_for_client: true,
      presence: true,
      history_size: 5,
      history_ttl: "60s",
      cursors: { enabled: true, receipts: "subscriber" },
      allow_call_for_client: true,
    },
    code: { "": { procedures: { p: () => 1 } } },
    channel: {
      namespaces: [
        { name: "maps", subscription_type: "map", map: { mode: "ephemeral", key_ttl: "60s" } },
      ],
    },
  });
  return { fixture, connection: fixture.subscribed("a") };
}
