import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { MapCheckpoint } from "../../../../src/features/maps/checkpoint.ts";
import type { MapEntry } from "../../../../src/features/maps/map-state.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { mapEntry } from "./map-entry.ts";

const header = { epoch: "epoch", top: 7, timeMs: 5, dueMs: 60_000 };

describe("the checkpoint of an ephemeral map", () => {
  it("[Z11] [Z29] holds every entry as it was, in a row for each megabyte", () => {
    const sql = new NodeSql();
    const large = "ä\u{1F600}\n".repeat(200_000);
    const entries: MapEntry[] = [
      mapEntry("a\nb", { tags: { room: "x\n" }, score: -1, data: trustedJsonText('"\\n"') }),
      mapEntry("b", { data: new Uint8Array([10, 0, 255]), isDiverted: true }),
      mapEntry("c", { isRemoved: true, version: 2n ** 64n - 1n, versionEpoch: "e" }),
      mapEntry("d", { data: trustedJsonText(JSON.stringify(large)) }),
      mapEntry("e", {
        info: { user: "u", client: "c", connInfo: trustedJsonText('{"name": "n"}') },
      }),
    ];
    new MapCheckpoint(sql, false).write(header, entries);
    const rows = sql.rows("SELECT length(data) AS bytes FROM map_checkpoint ORDER BY part");
    expect(rows.length).toBeGreaterThan(1);
    for (const { bytes } of rows)
      expect(bytes).toBeLessThanOrEqual(mapLimits.mapCheckpointBytesMax);
    const read = new MapCheckpoint(sql, true);
    expect(read.header).toEqual(header);
    expect(read.wasLost).toBe(false);
    expect(read.read()).toEqual(entries);
  });

  it("[Z11] [Z29] is void once it is taken out, until it is written again, and a smaller one leaves nothing behind", () => {
    const sql = new NodeSql();
    const checkpoint = new MapCheckpoint(sql, false);
    checkpoint.write(header, [
      mapEntry("a", { data: trustedJsonText(`"${"x".repeat(2_500_000)}"`) }),
    ]);
    checkpoint.takeOut(1);
    const taken = new MapCheckpoint(sql, true);
    expect(taken).toMatchObject({ header: undefined, wasLost: true });
    expect(taken.read()).toEqual([]);
    checkpoint.write({ epoch: "epoch", top: 8, timeMs: 9 }, [mapEntry("b")]);
    const read = new MapCheckpoint(sql, true);
    expect(read).toMatchObject({ header: { top: 8, timeMs: 9 }, wasLost: false });
    expect(read.read()).toEqual([mapEntry("b")]);
    expect(sql.rows("SELECT 1 FROM map_checkpoint")).toHaveLength(1);
  });
});
