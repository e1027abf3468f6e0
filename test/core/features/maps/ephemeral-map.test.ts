import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { changesOf, openMap, set, stateOf, unset } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { RecordingSubscriber } from "../../hub/recording-subscriber.ts";

describe("an ephemeral map", () => {
  const options = { mode: "ephemeral", keyTtlMs: 60_000 } as const;

  it("[Z11] is written down when it is quiet, and goes on from there", () => {
    const sql = new NodeSql();
    const { channel, map } = openMap(sql, options);
    set(map, "a", 1, { tags: { room: "ä" }, score: 3, nowMs: 1_000 });
    set(map, "b", 0, { data: new Uint8Array([255, 0]), nowMs: 1_000 });
    expect(map.restInMs(2_000)).toBe(mapLimits.mapRestMs - 1_000);
    map.rest(2_000);
    expect(map.restInMs(2_000)).toBe(mapLimits.mapRestMs - 1_000);
    map.rest(1_000 + mapLimits.mapRestMs);
    expect(map.restInMs(5_000)).toBeUndefined();
    const woken = openMap(sql, options);
    expect(woken.channel.top).toEqual(channel.top);
    expect(woken.channel.cleanupDueAtMs(5_000)).toBe(61_000);
    expect(woken.map.page({ cursor: "", limit: 9 }, 5_000, 1_000)).toMatchObject({
      publications: [
        { key: "a", data: "1", offset: 1, tags: { room: "ä" }, score: 3 },
        { key: "b", data: new Uint8Array([255, 0]), offset: 2 },
      ],
      position: { offset: 2 },
    });
    woken.map.expire(61_000);
    expect(changesOf(woken.channel, 61_000)).toEqual(["-a", "-b"]);
  });

  it("[Z11][H6] keeps the time of its newest change when it is written down after a look for ended keys", () => {
    const sql = new NodeSql();
    const { map } = openMap(sql, options);
    set(map, "a", 1, { nowMs: 1_000 });
    set(map, "a", 2, { nowMs: 30_000 });
    // The first change's time is looked for, and the key has another by then.
    map.expire(61_000);
    map.rest(61_000 + mapLimits.mapRestMs);
    expect(map.restInMs(70_000)).toBeUndefined();
    expect(openMap(sql, options).channel.newestMs).toBe(30_000);
  });

  it("[Z30] that was lost has a new epoch and no keys, and tells its subscribers once", () => {
    const sql = new NodeSql();
    const { channel, map } = openMap(sql, options);
    set(map, "a", 1);
    map.rest(mapLimits.mapRestMs);
    set(map, "a", 2, { nowMs: 5_000 });
    const { channel: after, map: left } = openMap(sql, options);
    const subscriber = new RecordingSubscriber("restored");
    after.hub.add(subscriber);
    left.tellLoss(6_000);
    left.tellLoss(6_000);
    expect(subscriber.restarts).toBe(1);
    expect(stateOf(left, 6_000)).toEqual({});
    expect(after.top?.epoch).not.toBe(channel.top?.epoch);
    left.rest(6_000 + mapLimits.mapRestMs);
    const { channel: last, map: quiet } = openMap(sql, options);
    last.hub.add(subscriber);
    quiet.tellLoss(10_000);
    expect(subscriber.restarts).toBe(1);
    expect(last.top?.epoch).toBe(after.top?.epoch);
  });

  it("[Z11] takes as much memory as it may, and no more", () => {
    const { map } = openMap(new NodeSql(), options);
    const large = new Uint8Array(limits.publicationBytesMax);
    let taken = 0;
    while (set(map, `key${taken}`, 0, { data: large }).outcome === "changed") taken++;
    expect(taken).toBe(Math.floor(mapLimits.ephemeralStateBytesMax / (large.length + 256)));
    expect(set(map, "key0", 0, { data: large })).toMatchObject({ outcome: "changed" });
    unset(map, "key0");
    expect(set(map, "other", 0, { data: large })).toMatchObject({ outcome: "changed" });
  });
});
