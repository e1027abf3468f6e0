import { describe, expect, test } from "vitest";
import { testChannel } from "../../../../package/test/test-channel.ts";
import { channel } from "../../../../src/features/procedures/definition.ts";
import { withChannelCode } from "../../../../src/features/procedures/config.ts";
import { configured } from "../../../support/configured.ts";

const persistent = { subscription_type: "map", map: { mode: "persistent" } } as const;

const bank = channel({
  procedures: {
    open: (ctx, { name, sum }: { name: string; sum: number }) => ctx.set(name, sum),
    move(ctx, { from, to, sum }: { from: string; to: string; sum: number }) {
      const has = ctx.get<number>(from) ?? 0;
      if (has < sum) ctx.reject(1_001, `${from} has ${has}`);
      ctx.set(from, has - sum);
      ctx.set(to, (ctx.get<number>(to) ?? 0) + sum);
      if (ctx.get(from) === 0) ctx.remove(from);
    },
    fails(ctx) {
      ctx.set("a", 1_000);
      throw new Error("fails");
    },
    publishes: (ctx) => ctx.publish("x"),
    names: (ctx) => [...ctx.keys()],
    there: (ctx, key: string) => ctx.get(key) !== undefined,
  },
});

describe("the keys of a map", () => {
  test("[PC11] [PC1] are those of the code: each change is one of the map, all of a call or none", () => {
    const room = testChannel(bank, { namespace: persistent });
    room.call("open", { name: "a", sum: 5 });
    room.call("move", { from: "a", to: "b", sum: 2 });
    expect(() => room.call("move", { from: "a", to: "b", sum: 4 })).toThrow("a has 3");
    expect(() => room.call("fails")).toThrow("fails");
    room.call("move", { from: "a", to: "b", sum: 3 });
    expect(room.published).toEqual([
      { key: "a", data: 5, offset: 1 },
      { key: "a", data: 3, offset: 2 },
      { key: "b", data: 2, offset: 3 },
      { key: "a", data: undefined, removed: true, offset: 4 },
      { key: "b", data: 5, offset: 5 },
    ]);
    room.restart();
    expect([room.keys, room.call("names")]).toEqual([{ b: 5 }, ["b"]]);
    room.set("c", 1, { user: "ann" });
    expect(room.call("names")).toEqual(["b", "c"]);
    expect(() => room.call("publishes")).toThrow("a map has no publications but");
  });

  test("[PC11] end when those of the map do", () => {
    const room = testChannel(bank, {
      namespace: { subscription_type: "map", map: { mode: "recoverable", key_ttl: "1m" } },
    });
    room.call("open", { name: "a", sum: 5 });
    room.advance(50_000);
    expect(room.call("there", "a")).toBe(true);
    room.advance(20_000);
    expect(room.call("there", "a")).toBe(false);
  });

  test("[PC9] take what the namespace takes", () => {
    const room = testChannel(bank, {
      namespace: { ...persistent, publication_data_format: "json_object" },
    });
    expect(() => room.call("open", { name: "a", sum: 5 })).toThrow("publication_data_format");
    expect(room.keys).toEqual({});
  });
});

const config = (namespaces: readonly object[]) => configured({ channel: { namespaces } });
const map = (mode: string) => [
  { name: "room", subscription_type: "map", map: { mode, key_ttl: "1m" } },
];

const problems = (definitions: object, namespaces: readonly object[] = [{ name: "room" }]) =>
  withChannelCode(config(namespaces), definitions).problems;

describe("the code of channels", () => {
  const procedures = { one: () => 1 };

  test("[PC9] is given to the namespaces that are named, and to channels without one", () => {
    const coded = withChannelCode(config([{ name: "room" }, { name: "news" }]), {
      room: { procedures },
      "": { onPublish: () => undefined },
    });
    const { namespaces, withoutNamespace } = coded.config.channel;
    expect(coded.problems).toEqual([]);
    expect([...(namespaces.get("room")?.code?.procedures.keys() ?? [])]).toEqual(["one"]);
    expect(namespaces.get("news")?.code).toBeUndefined();
    expect(withoutNamespace.code?.onPublish).toBeDefined();
  });

  test("[PC9] [PC11] has its problems named", () => {
    expect(problems({ rom: { procedures } })).toEqual([
      "channels.rom: channel.namespaces has no rom",
    ]);
    expect(problems({ room: 1 })).toEqual(["channels.room must be channel({ … })"]);
    expect(problems({ room: {} })).toEqual(["channels.room has neither procedures nor onPublish"]);
    expect(problems({ room: { procedures: { one: 1 }, version: 0, clients: ["two"] } })).toEqual([
      "channels.room.procedures.one must be a function",
      "channels.room.version must be a whole number from 1 on",
      "channels.room.migrate is missing: it brings the keys of version 1 to the version",
      "channels.room.clients must be an array of names of procedures",
    ]);
    expect(problems({ room: { procedures: { one: undefined, two: () => 1 } } })).toEqual([
      "channels.room.procedures.one is missing",
    ]);
    expect(problems({ room: { procedures: { ["n".repeat(65)]: () => 1 } } })[0]).toContain(
      "longer than 64 bytes",
    );
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`p${n}`, () => 1]));
    expect(problems({ room: { procedures: many } })[0]).toContain("more than 100 procedures");
    expect(problems({ room: { procedures } }, map("recoverable"))).toEqual([]);
    expect(problems({ room: { procedures } }, map("ephemeral"))).toEqual([
      'channels.room: the keys of a map with code are kept: set map.mode to "recoverable" or "persistent"',
    ]);
  });
});
