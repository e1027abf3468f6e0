import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { changesOf, openMap, set, stateOf, unset } from "../../../contract/open-map.ts";
import {
  openChannel,
  positioned,
  publishing,
  withHistory,
} from "../../../contract/open-channel.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { sendAll } from "../../../support/send-all.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";

const changed = (offset: number) => ({ outcome: "changed", position: { offset } });

describe("changes of a map", () => {
  it("[Z1] are publications of the channel, in its order, with the key", () => {
    const { channel, map } = openMap(new NodeSql());
    const subscriber = new RecordingSubscriber("user");
    channel.subscribe(subscriber, positioned, 0);
    expect(set(map, "b", 1)).toMatchObject(changed(1));
    expect(set(map, "a", 2)).toMatchObject(changed(2));
    expect(unset(map, "b")).toMatchObject(changed(3));
    sendAll(channel.hub);
    const pushes = subscriber.frames.flatMap((frame) => String(frame).split("\n"));
    expect(pushes.map((push) => JSON.parse(push).push.pub)).toEqual([
      { key: "b", data: 1, offset: 1, epoch: expect.any(String) },
      { key: "a", data: 2, offset: 2 },
      { key: "b", removed: true, offset: 3 },
    ]);
    expect(stateOf(map)).toEqual({ a: "2" });
    expect(changesOf(channel)).toEqual(["b=1", "a=2", "-b"]);
  });

  it("[Z1] survive the instance, with tags, score and binary values", () => {
    const sql = new NodeSql();
    const first = openMap(sql);
    set(first.map, "a", 1, { tags: { room: "x" }, score: -5 });
    set(first.map, "b", 0, { data: new Uint8Array([0, 255]) });
    const { channel, map } = openMap(sql);
    expect(map.page({ cursor: "", limit: 10 }, 0, 1_000)).toMatchObject({
      publications: [
        { key: "a", data: "1", offset: 1, tags: { room: "x" }, score: -5 },
        { key: "b", data: new Uint8Array([0, 255]), offset: 2 },
      ],
      cursor: "",
      position: { offset: 2, epoch: first.channel.top?.epoch },
    });
    expect(channel.readStream({ limit: -1, reverse: true }, 0)).toMatchObject({
      publications: [{ key: "b" }, { key: "a", score: -5, tags: { room: "x" } }],
    });
  });

  it("[Z1] tell subscribers the data of the stream, and those who synchronise the value", () => {
    const { channel, map } = openMap(new NodeSql());
    set(map, "a", 1, { streamData: publishing("2").data });
    expect(changesOf(channel)).toEqual(["a=2"]);
    expect(stateOf(map)).toEqual({ a: "1" });
  });

  it("[D2] have the value before as base of a delta, unless subscribers were told other data", () => {
    const { channel, map } = openMap(new NodeSql(), {}, { options: { deltaPublish: true } });
    channel.relay.follow("gateway", 0);
    set(map, "a", 1);
    set(map, "a", 2);
    set(map, "a", 3, { streamData: publishing("33").data });
    set(map, "a", 4);
    unset(map, "a");
    set(map, "a", 5);
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    const told = delivery?.batch.entries.map((entry) =>
      entry.type === "publication" ? (entry.publication.before ?? "none") : entry.type,
    );
    expect(told).toEqual(["none", "1", "none", "none", "none", "none"]);
  });
});

describe("reasons for which a change does nothing", () => {
  it("[Z7] [Z34] are looked at in their order: idempotency, version, key mode, offset", () => {
    const { map } = openMap(new NodeSql());
    set(map, "a", 1, { idempotencyKey: "one", version: 5n });
    const all = { idempotencyKey: "one", version: 5n, keyMode: "if_new", ifOffset: 7 } as const;
    const reason = (fields: object) => set(map, "a", 2, fields);
    expect(reason(all)).toMatchObject({ reason: "idempotency", position: { offset: 1 } });
    expect(reason({ ...all, idempotencyKey: "two" })).toMatchObject({ reason: "version" });
    const newer = { ...all, idempotencyKey: "two", version: 6n };
    expect(reason(newer)).toMatchObject({ reason: "key_exists", currentOffset: 1 });
    expect(reason({ ...newer, keyMode: "" })).toMatchObject({
      reason: "position_mismatch",
      currentOffset: 1,
    });
    expect(reason({ ...newer, keyMode: "if_exists", ifOffset: 1 })).toMatchObject(changed(2));
    expect(set(map, "new", 1, { keyMode: "if_exists" })).toMatchObject({
      reason: "key_not_found",
      currentOffset: 0,
    });
    expect(unset(map, "new")).toMatchObject({ reason: "key_not_found" });
    expect(unset(map, "new", { idempotencyKey: "one" })).toMatchObject({ reason: "idempotency" });
    expect(stateOf(map)).toEqual({ a: "2" });
  });

  it.each(["persistent", "recoverable", "ephemeral"] as const)(
    "[Z8] a removed key doesn't come back by an older version (%s)",
    (mode) => {
      const sql = new NodeSql();
      const options = { mode, keyTtlMs: mode === "persistent" ? 0 : 60_000 };
      const { map } = openMap(sql, options);
      set(map, "a", 1, { version: 5n, versionEpoch: "x" });
      unset(map, "a");
      const late = { version: 5n, versionEpoch: "x" };
      expect(set(map, "a", 1, late)).toMatchObject({ reason: "version" });
      map.rest(mapLimits.mapRestMs);
      const woken = openMap(sql, options).map;
      expect(set(woken, "a", 1, late)).toMatchObject({ reason: "version" });
      expect(stateOf(woken)).toEqual({});
      expect(woken.keys(0)).toBe(0);
      expect(set(woken, "a", 2, { version: 6n, versionEpoch: "x" })).toMatchObject(changed(3));
      expect(woken.keys(0)).toBe(1);
    },
  );

  it("[Z8] a change without a version keeps the version of the key", () => {
    const { map } = openMap(new NodeSql());
    set(map, "a", 1, { version: 5n });
    set(map, "a", 2);
    expect(set(map, "a", 3, { version: 5n })).toMatchObject({ reason: "version" });
    expect(set(map, "a", 3, { version: 1n, versionEpoch: "next" })).toMatchObject(changed(3));
  });

  it("[Z8] the version of a removed key is remembered for a day", () => {
    const sql = new NodeSql();
    const { map } = openMap(sql);
    set(map, "a", 1, { version: 5n });
    unset(map, "a", { nowMs: 1_000 });
    const endMs = 1_000 + mapLimits.mapRemovedVersionMs;
    expect(map.dueAtMs).toBe(endMs);
    const woken = openMap(sql).map;
    woken.expire(endMs - 1);
    expect(set(woken, "a", 1, { version: 5n, nowMs: endMs - 1 })).toMatchObject({
      reason: "version",
    });
    woken.expire(endMs);
    expect(woken.dueAtMs).toBeUndefined();
    expect(set(woken, "a", 1, { version: 5n, nowMs: endMs })).toMatchObject(changed(3));
  });

  it("[Z7] [I1] a repeated idempotency key returns the first position, also after a removal", () => {
    const sql = new NodeSql();
    const { map } = openMap(sql);
    set(map, "a", 1, { idempotencyKey: "set" });
    unset(map, "a", { idempotencyKey: "unset" });
    const woken = openMap(sql).map;
    expect(set(woken, "a", 1, { idempotencyKey: "set" })).toMatchObject({
      reason: "idempotency",
      position: { offset: 1 },
    });
    expect(unset(woken, "a", { idempotencyKey: "unset" })).toMatchObject({
      reason: "idempotency",
      position: { offset: 2 },
    });
    expect(stateOf(woken)).toEqual({});
  });
});

describe("pages", () => {
  it("[Z4] the changes after them are read in pages, and error 112 says that they are gone", () => {
    const { map } = openMap(new NodeSql(), {}, { options: { historySize: 3 } });
    for (let number = 1; number <= 5; number++) set(map, "key", number);
    const { position } = map.page({ cursor: "", limit: 2 }, 0, 1_000);
    const from = (offset: number) => ({ ...position, offset });
    expect(map.changesAfter(from(2), 2, 0, 1_000)).toMatchObject({
      outcome: "recovered",
      publications: [{ offset: 3 }, { offset: 4 }],
    });
    expect(map.changesAfter(from(5), 2, 0, 1_000)).toMatchObject({
      outcome: "recovered",
      publications: [],
    });
    expect(map.changesAfter(from(1), 2, 0, 1_000)).toMatchObject({ outcome: "unrecoverable" });
    const other = { offset: 5, epoch: "other" };
    expect(map.changesAfter(other, 2, 0, 1_000)).toMatchObject({ outcome: "unrecoverable" });
  });
});

describe("the end of keys", () => {
  it("[Z6] is told once and in order, each with its tags", () => {
    const sql = new NodeSql();
    const options = { mode: "recoverable", keyTtlMs: 10_000 } as const;
    const { channel, map } = openMap(sql, options);
    set(map, "b", 1, { tags: { room: "x" } });
    set(map, "a", 2, { nowMs: 2_000 });
    set(map, "c", 3, { nowMs: 4_000 });
    set(map, "b", 4, { nowMs: 5_000, tags: { room: "x" } });
    expect(channel.cleanupDueAtMs(5_000)).toBe(10_000);
    const woken = openMap(sql, options, { nowMs: 10_000 });
    woken.map.expire(10_000);
    // The first key was changed since: the next one ends at 12 s.
    expect(woken.channel.cleanupDueAtMs(10_000)).toBe(12_000);
    woken.map.expire(20_000);
    woken.map.expire(20_000);
    expect(changesOf(woken.channel, 20_000)).toEqual([
      "b=1",
      "a=2",
      "c=3",
      "b=4",
      "-a",
      "-c",
      "-b",
    ]);
    expect(woken.channel.readStream({ limit: 1, reverse: true }, 20_000)).toMatchObject({
      publications: [{ key: "b", removed: true, tags: { room: "x" } }],
    });
    expect(woken.map.dueAtMs).toBeUndefined();
    expect(stateOf(woken.map, 20_000)).toEqual({});
  });

  it("[Z6] comes before a change of a key whose turn hasn't come among many", () => {
    const options = { mode: "recoverable", keyTtlMs: 10_000 } as const;
    const { channel, map } = openMap(new NodeSql(), options, { options: { historySize: 1_000 } });
    const count = mapLimits.mapExpirySliceKeys + 1;
    for (let number = 1; number <= count; number++) set(map, `key${number}`, number);
    const last = `key${count}`;
    set(map, last, 0, { nowMs: 10_000, keyMode: "if_new" });
    expect(changesOf(channel, 10_000).slice(-2)).toEqual([`-${last}`, `${last}=0`]);
    map.expire(10_000);
    expect(stateOf(map, 10_000)).toEqual({ [last]: "0" });
    expect(channel.top?.offset).toBe(2 * count + 1);
  });

  it("[Z6] comes for keys that were set while keys lived for ever, and not for those that live for ever now", () => {
    const sql = new NodeSql();
    set(openMap(sql).map, "a", 1);
    const options = { mode: "recoverable", keyTtlMs: 10_000 } as const;
    const { map } = openMap(sql, options, { nowMs: 5_000 });
    expect(map.dueAtMs).toBe(0);
    map.expire(5_000);
    expect(map.dueAtMs).toBe(10_000);
    const lasting = openMap(sql).map;
    lasting.expire(20_000);
    expect(lasting.dueAtMs).toBeUndefined();
    expect(stateOf(lasting, 20_000)).toEqual({ a: "1" });
  });

  it("[Z6] [Z33] of many keys at once is told in slices", () => {
    const sql = new NodeSql();
    const options = { mode: "recoverable", keyTtlMs: 10_000 } as const;
    const stream = { options: { historySize: 2_000 } };
    const { map } = openMap(sql, options, stream);
    const count = 2 * mapLimits.mapExpirySliceKeys + 10;
    for (let number = 0; number < count; number++) set(map, `key${number}`, number);
    const woken = openMap(sql, options, { ...stream, nowMs: 10_000 });
    const ends: number[] = [];
    while ((woken.map.dueAtMs ?? Infinity) <= 10_000) {
      const before = changesOf(woken.channel, 10_000).length;
      woken.map.expire(10_000);
      ends.push(changesOf(woken.channel, 10_000).length - before);
    }
    expect(Math.max(...ends)).toBe(mapLimits.mapExpirySliceKeys);
    expect(ends.reduce((sum, each) => sum + each, 0)).toBe(count);
    expect(changesOf(woken.channel, 10_000).slice(count)).toEqual(
      Array.from({ length: count }, (_, number) => `-key${number}`),
    );
  });
});

describe("clearing and ending", () => {
  it("[Z5] clearing begins a new stream, and tells subscribers and gateways", () => {
    const sql = new NodeSql();
    const { channel, map } = openMap(sql);
    const subscriber = new RecordingSubscriber("user");
    channel.subscribe(subscriber, positioned, 0);
    channel.relay.follow("gateway", 0);
    set(map, "a", 1);
    const before = channel.top;
    // The gateway has everything up to here, so that only the new epoch is to be told.
    for (const told of channel.relay.deliveries(before, 0))
      channel.relay.answered(told, { outcome: "taken" }, 0);
    expect(channel.relay.deliveries(before, 0)).toEqual([]);
    map.clear(0);
    expect(subscriber.restarts).toBe(1);
    expect(channel.hub.size).toBe(0);
    expect(channel.top).toMatchObject({ offset: 0 });
    expect(channel.top?.epoch).not.toBe(before?.epoch);
    const [delivery] = channel.relay.deliveries(channel.top, 0);
    expect(delivery?.batch.top).toEqual(channel.top);
    expect(stateOf(map)).toEqual({});
    set(map, "a", 2, { ifOffset: 0 });
    expect(stateOf(openMap(sql).map)).toEqual({ a: "2" });
  });

  it("[H6] a map keeps its stream while it has keys, and deletes everything after them", () => {
    const sql = new NodeSql();
    const { channel, map } = openMap(sql);
    set(map, "a", 1);
    const laterMs = 36_000_000;
    channel.deleteExpired(laterMs);
    expect(channel.cleanupDueAtMs(laterMs)).toBeUndefined();
    expect(stateOf(map, laterMs)).toEqual({ a: "1" });
    unset(map, "a", { nowMs: laterMs });
    const endMs = channel.cleanupDueAtMs(laterMs) ?? 0;
    expect(endMs).toBe(laterMs + 3_600_000);
    channel.deleteExpired(endMs);
    expect(channel.storesNothing).toBe(true);
    expect(sql.rows("SELECT name FROM sqlite_master WHERE name LIKE 'map%'")).toEqual([]);
  });

  it("[Z12] a channel whose namespace becomes one of maps, or ceases to be one, begins anew", () => {
    const sql = new NodeSql();
    const plain = openChannel(sql, { options: withHistory });
    plain.publish(publishing("1"), undefined, 0);
    const { channel, map } = openMap(sql);
    expect(channel.top).toBeUndefined();
    set(map, "a", 1);
    const again = openChannel(sql, { options: withHistory });
    expect(again.top).toBeUndefined();
    again.publish(publishing("2"), undefined, 0);
    const ephemeral = { mode: "ephemeral", keyTtlMs: 10_000 } as const;
    const first = openMap(sql, ephemeral).map;
    set(first, "b", 1);
    first.rest(mapLimits.mapRestMs);
    expect(stateOf(openMap(sql, ephemeral).map)).toEqual({ b: "1" });
    expect(stateOf(openMap(sql).map)).toEqual({});
    expect(stateOf(openMap(sql, ephemeral).map)).toEqual({});
  });

  it("[B1] a map that has as many keys as it may refuses a further one", () => {
    const sql = new NodeSql();
    const { map } = openMap(sql);
    set(map, "a", 1);
    sql.run(
      `WITH RECURSIVE entry (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
        INSERT INTO map_state SELECT 'key' || number, 1, 0, 0, 0, '0', '', 0, NULL, NULL, '1' FROM entry`,
      mapLimits.mapKeysMax - 1,
    );
    const full = openMap(sql).map;
    expect(full.keys(0)).toBe(mapLimits.mapKeysMax);
    expect(set(full, "b", 1)).toEqual({ outcome: "full" });
    expect(set(full, "a", 2)).toMatchObject(changed(2));
    unset(full, "a");
    expect(set(full, "b", 1)).toMatchObject(changed(4));
  });
});

describe("a publish with if_offset", () => {
  it("[Z13] is made only at that top", () => {
    const channel = openChannel(new NodeSql(), { options: withHistory });
    const publish = (ifOffset: number) =>
      channel.publish(publishing("1", { ifOffset }), undefined, 0);
    expect(publish(1)).toMatchObject({ outcome: "position-mismatch", position: { offset: 0 } });
    expect(publish(0)).toMatchObject({ outcome: "published", position: { offset: 1 } });
    expect(publish(0)).toMatchObject({ outcome: "position-mismatch", position: { offset: 1 } });
    expect(publish(1)).toMatchObject({ outcome: "published", position: { offset: 2 } });
  });
});
