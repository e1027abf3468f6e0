import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { channelNode, gatewayNode, shardOf } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { compareNames, firstChannels } from "../../../src/contract/listing.ts";
import { Directory } from "../../../src/users/directory.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const all = { pattern: "", after: "", limit: 100 };

describe("a shard of the directory", () => {
  it("[U22] lists an object once, also through a crash", () => {
    const sql = new NodeSql();
    const directory = new Directory(sql);
    expect(directory.gateways()).toStrictEqual([]);
    expect(directory.channels(all).names).toStrictEqual([]);
    directory.list(gatewayNode("eu/0"));
    directory.list(channelNode("news"));
    directory.list(channelNode("news"));
    directory.list("nonsense");
    const later = new Directory(sql);
    expect(later.gateways()).toStrictEqual(["eu/0"]);
    expect(later.channels(all)).toStrictEqual({ names: ["news"], complete: true });
  });

  it("[B1] [U23] has as many gateways asked for one question as one invocation may call", () => {
    const directory = new Directory(new NodeSql());
    for (let number = 0; number <= limits.gatewaysListedMax; number++)
      directory.list(gatewayNode(`eu/${number}`));
    expect(directory.gateways()).toHaveLength(limits.gatewaysListedMax);
    expect(limits.gatewaysListedMax).toBeLessThan(1_000);
  });

  it("[U40] forgets an object without connections, unless it is listed anew meanwhile", () => {
    const directory = new Directory(new NodeSql());
    const nodes = ["a", "b", "c", "d"].map(channelNode);
    for (const node of nodes) directory.list(node);
    const [a, b, c, d] = nodes.map((node) => directory.ask(node));
    if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error();
    directory.list(channelNode("b"));
    directory.answered(a, false);
    directory.answered(b, false);
    directory.answered(c, true);
    directory.answered(d, undefined);
    expect(directory.channels(all).names).toStrictEqual(["b", "c", "d"]);
    directory.answered(directory.ask(channelNode("b")), false);
    expect(directory.channels(all).names).toStrictEqual(["c", "d"]);
  });

  it("[U40] has two channels checked for each new one, so that the rows of empty ones don't pile up", () => {
    const sql = new NodeSql();
    const directory = new Directory(sql);
    const live = new Set(Array.from({ length: 20 }, (_, index) => `live${index}`));
    for (const name of live) directory.list(channelNode(name));
    for (let index = 0; index < 500; index++) {
      const invented = (index * 7919) % 500;
      const unsure = directory.list(channelNode(`${invented % 2 === 0 ? "a" : "z"}${invented}`));
      expect(unsure.length).toBeLessThanOrEqual(limits.listedChecks);
      for (const name of unsure)
        directory.answered(directory.ask(channelNode(name)), live.has(name));
    }
    const rows = sql.rows("SELECT 1 FROM listed").length;
    expect(directory.channels({ ...all, pattern: "live*" }).names).toHaveLength(20);
    expect(rows).toBeLessThan(60);
    expect(directory.list(channelNode("live3"))).toStrictEqual([]);
    expect(directory.list(gatewayNode("eu/0"))).toStrictEqual([]);
  });

  it("[U24] finds the first channels after a name that match, in the order of code points", () => {
    const directory = new Directory(new NodeSql());
    const names = ["b", "a", "chat:2", "chat:10", "\u{1F600}", "\uFFFD", "chat:1", "chats"];
    for (const name of names) directory.list(channelNode(name));
    const find = (more: object) => directory.channels({ ...all, ...more }).names;
    expect(find({})).toStrictEqual(names.toSorted(compareNames));
    expect(find({ limit: 2 })).toStrictEqual(["a", "b"]);
    expect(find({ after: "b", limit: 2 })).toStrictEqual(["chat:1", "chat:10"]);
    expect(find({ pattern: "chat:*", limit: 2 })).toStrictEqual(["chat:1", "chat:10"]);
    expect(find({ pattern: "chat:*", after: "chat:10" })).toStrictEqual(["chat:2"]);
    expect(find({ pattern: "*a*", after: "zzz" })).toStrictEqual([]);
    expect(find({ pattern: "{b,a}" })).toStrictEqual(["a", "b"]);
    expect(directory.gateways()).toStrictEqual([]);
  });

  it("[U24] [B1] looks at so many rows, and says so", () => {
    const sql = new NodeSql();
    const directory = new Directory(sql);
    directory.list(channelNode("x"));
    sql.run(
      `INSERT INTO listed WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT 'channel', 'n' || i FROM n`,
      limits.listedRowsReadMax,
    );
    const rare = directory.channels({ ...all, pattern: "*x" });
    expect(rare).toStrictEqual({ names: [], complete: false });
    // What the pattern begins with is looked up.
    const found = directory.channels({ ...all, pattern: "x*" });
    expect(found).toStrictEqual({ names: ["x"], complete: true });
  });

  it("[U23] names the first gateways after a name", () => {
    const directory = new Directory(new NodeSql());
    for (const name of ["us/1", "eu/10", "eu/2", "channel/news/0"])
      directory.list(gatewayNode(name));
    expect(directory.gateways()).toStrictEqual(["channel/news/0", "eu/10", "eu/2", "us/1"]);
    expect(directory.gateways("channel/news/0", 2)).toStrictEqual(["eu/10", "eu/2"]);
  });

  it("[V1] is a function of the object that never changes", () => {
    const nodes = ["gateway:eu/0", "channel:news", "gateway:channel/news/0", "channel:Ünïcödé"];
    expect(nodes.map(shardOf)).toStrictEqual([
      "directory/12",
      "directory/5",
      "directory/9",
      "directory/15",
    ]);
    const shards = new Set(Array.from({ length: 500 }, (_, index) => shardOf(`channel:${index}`)));
    expect(shards.size).toBe(limits.directoryShards);
  });
});

describe("the order of names", () => {
  it("[U24] is that of SQLite", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "binary", maxLength: 4 })), (drawn) => {
        const names = drawn.filter((name) => !name.includes("\0"));
        const sql = new NodeSql();
        sql.run("CREATE TABLE t (name TEXT PRIMARY KEY) WITHOUT ROWID");
        for (const name of names) sql.run("INSERT INTO t VALUES (?)", name);
        const ordered = sql.rows("SELECT name FROM t ORDER BY name").map((row) => row["name"]);
        expect(names.toSorted(compareNames)).toStrictEqual(ordered);
      }),
    );
  });
});

describe("the first channels of several objects", () => {
  it("[U24] are counted exactly, although each object tells only its first ones", () => {
    const names = fc.constantFrom("a", "b", "c", "d", "e", "f", "g");
    const object = fc
      .uniqueArray(names)
      .map((own) => own.map((name) => ({ name, subscribers: 1 })));
    fc.assert(
      fc.property(fc.array(object), fc.integer({ min: 1, max: 8 }), (objects, limit) => {
        const told = objects.flatMap((own) => firstChannels(own, limit));
        const expected = firstChannels(objects.flat(), Number.POSITIVE_INFINITY).slice(0, limit);
        expect(firstChannels(told, limit)).toStrictEqual(expected);
      }),
    );
  });
});
