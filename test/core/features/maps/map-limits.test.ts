import { describe, expect, it } from "vitest";
import type { Channel } from "../../../../src/channel/channel.ts";
import type { ChannelMap } from "../../../../src/features/maps/channel-map.ts";
import { MemoryHistory } from "../../../../src/features/maps/memory-history.ts";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { publishing } from "../../../contract/open-channel.ts";
import { openMap, set, unset } from "../../../contract/open-map.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const noVersion = { version: 0n, versionEpoch: "" };
const ephemeral = { mode: "ephemeral", keyTtlMs: 3_600_000 } as const;

const keyOf = (number: number) => `key${String(number).padStart(4, "0")}`;

/** Reads the changes after an offset, as a client does that missed them. */
function after(offset: number, { channel, map }: { channel: Channel; map: ChannelMap }, nowMs = 0) {
  const epoch = channel.top?.epoch ?? "";
  return map.changesAfter({ epoch, offset }, limits.historySizeMax, nowMs, Infinity).outcome;
}

describe("the stream of an ephemeral map", () => {
  it("[Z11] [B1] has as many changes as it may", () => {
    const opened = openMap(new NodeSql(), ephemeral);
    for (let count = 0; count <= mapLimits.ephemeralStreamSize; count++)
      set(opened.map, "a", count);
    expect(after(1, opened)).toBe("recovered");
    expect(after(0, opened)).toBe("unrecoverable");
  });

  it("[Z11] [B1] keeps no more changes in memory than that", () => {
    const history = new MemoryHistory();
    const entry = { data: publishing("1").data, idempotencyKey: "", delta: false, ...noVersion };
    for (let top = 1; top <= mapLimits.ephemeralStreamSize + 1; top++)
      history.append(entry, { epoch: "e", top, floor: 1, timeMs: 0, ...noVersion });
    expect(history.find(1)).toBeUndefined();
    expect(history.find(2)).toBeDefined();
  });

  it("[Z11] [B1] has as many bytes as it may", () => {
    const opened = openMap(new NodeSql(), ephemeral);
    const quarter = new Uint8Array(mapLimits.ephemeralStreamBytesMax / 4);
    for (let count = 0; count < 4; count++) set(opened.map, "a", 0, { data: quarter });
    // Each change takes more than its data.
    expect(after(1, opened)).toBe("recovered");
    expect(after(0, opened)).toBe("unrecoverable");
  });

  it("[Z11] [B1] has changes for as long as it may", () => {
    const opened = openMap(new NodeSql(), ephemeral);
    set(opened.map, "a", 1);
    set(opened.map, "a", 2);
    expect(after(1, opened, mapLimits.ephemeralStreamMs - 1)).toBe("recovered");
    expect(after(1, opened, mapLimits.ephemeralStreamMs)).toBe("unrecoverable");
  });

  it("[H6] [B1] is kept for a while once no key is left", () => {
    const { channel, map } = openMap(new NodeSql(), ephemeral);
    set(map, "a", 1);
    unset(map, "a");
    channel.deleteExpired(mapLimits.ephemeralMetaMs - 1);
    expect(channel.top).toBeDefined();
    channel.deleteExpired(mapLimits.ephemeralMetaMs);
    expect(channel.top).toBeUndefined();
  });
});

describe("reading a map", () => {
  it("[Z3] [Z25] [B1] looks at a bounded number of rows, and goes on after them", () => {
    const { map } = openMap(new NodeSql(), ephemeral);
    for (let number = 0; number <= mapLimits.mapPageRowsMax; number++) {
      set(map, keyOf(number), 1, { version: 1n });
      unset(map, keyOf(number));
    }
    set(map, "last", 1);
    const page = map.page({ cursor: "", limit: 10 }, 0, 1_000);
    expect(page).toMatchObject({ publications: [], cursor: keyOf(mapLimits.mapPageRowsMax - 1) });
    const next = map.page({ cursor: keyOf(mapLimits.mapPageRowsMax - 1), limit: 10 }, 0, 1_000);
    expect(next).toMatchObject({ publications: [{ key: "last" }], cursor: "" });
  });

  it("[B1] gives a backend that asks for all entries so many, and a cursor", () => {
    const { map } = openMap(new NodeSql(), ephemeral);
    const count = mapLimits.mapAnswerEntriesMax + 1;
    for (let number = 0; number < count; number++) set(map, `key${number}`, 1);
    const read = map.readState({ key: "", cursor: "", limit: -1, asc: false }, 0);
    expect(read).toMatchObject({ outcome: "state", cursor: expect.stringMatching(/^key/) });
    expect("entries" in read && read.entries).toHaveLength(mapLimits.mapAnswerEntriesMax);
  });
});

describe("the versions of removed keys", () => {
  it("[Z8] [B1] are remembered for as many keys as they may", () => {
    const sql = new NodeSql();
    set(openMap(sql).map, "a", 1);
    sql.run(
      `WITH RECURSIVE entry (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
        INSERT INTO map_state SELECT 'key' || number, 1, 0, 1, 0, '5', '', 0, NULL, NULL, '' FROM entry`,
      mapLimits.mapRemovedVersionsMax - 1,
    );
    const { map } = openMap(sql);
    for (const key of ["b", "c"]) {
      set(map, key, 1, { version: 5n });
      unset(map, key);
    }
    expect(set(map, "b", 2, { version: 4n })).toMatchObject({ reason: "version" });
    expect(set(map, "c", 2, { version: 4n })).toMatchObject({ outcome: "changed" });
  });
});
