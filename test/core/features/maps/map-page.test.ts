import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { pageRows, readPage } from "../../../../src/features/maps/map-outcomes.ts";
import type { MapEntry, MapState } from "../../../../src/features/maps/map-state.ts";
import { StateMemory } from "../../../../src/features/maps/state-memory.ts";
import { StateTable } from "../../../../src/features/maps/state-table.ts";
import { trustedJsonText } from "../../../../src/protocol/json/text.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { mapEntry } from "./map-entry.ts";

const states = {
  table: (): MapState => new StateTable(new NodeSql(), false),
  memory: (): MapState => new StateMemory(),
};

describe.each(Object.entries(states))("pages of a state (%s)", (_, open) => {
  it("[Z25] end where they have as many bytes as they may, with one entry at least", () => {
    const state = open();
    for (const key of ["a", "b", "c"]) state.write(entry(key, 1, "x".repeat(1_000)));
    const bounds = { entriesMax: 10, offsetMax: 9, rowsMax: 100 };
    const keys = (cursor: string, bytesMax: number) => {
      const page = readPage(state, { ...bounds, cursor, bytesMax });
      return [page.entries.map(({ key }) => key).join(""), page.cursor];
    };
    expect(keys("", 10)).toEqual(["a", "a"]);
    expect(keys("a", 3_000)).toEqual(["bc", ""]);
    expect(keys("", 2_600)).toEqual(["ab", "b"]);
  });

  it("[Z25] look at a bounded number of rows, however many of them were removed or are newer", () => {
    const state = open();
    for (let number = 0; number < 5_000; number++)
      state.write(entry(keyOf(number), number, "1", number % 2 === 0));
    const read: string[] = [];
    let pages = 0;
    for (let cursor = ""; ; pages++) {
      const bounds = { cursor, entriesMax: 100, bytesMax: 1_000_000, offsetMax: 60, rowsMax: 200 };
      const page = readPage(state, bounds);
      read.push(...page.entries.map(({ key }) => key));
      if (page.cursor === "") break;
      expect(page.cursor > cursor).toBe(true);
      ({ cursor } = page);
    }
    expect(read).toEqual(Array.from({ length: 30 }, (__, number) => keyOf(2 * number + 1)));
    expect(pages).toBe(25);
  });
});

describe("a map of 100,000 keys", () => {
  it("[Z3] [Z25] [Z10] is read in pages that each read no more rows than they return, whatever the number of keys", () => {
    const sql = new NodeSql();
    const counting = new CountingSql(sql);
    const state = new StateTable(counting, false);
    state.write(entry("first", 1, "1"));
    sql.run(
      `WITH RECURSIVE entry (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
        INSERT INTO map_state SELECT printf('key%06d', number), number, 0, 0, 0, '0', '', 0, NULL, NULL, '1' FROM entry`,
      mapLimits.mapKeysMax - 1,
    );
    let read = 0;
    let rowsMax = 0;
    for (let cursor = ""; ;) {
      counting.rowsRead = 0;
      const page = readPage(state, {
        cursor,
        entriesMax: 1_000,
        bytesMax: 1_000_000,
        offsetMax: mapLimits.mapKeysMax,
        rowsMax: pageRows(1_000),
      });
      rowsMax = Math.max(rowsMax, counting.rowsRead);
      read += page.entries.length;
      if (page.cursor === "") break;
      ({ cursor } = page);
    }
    expect(read).toBe(mapLimits.mapKeysMax);
    expect(rowsMax).toBe(2_001);
    counting.rowsRead = 0;
    state.known("key050000");
    state.write(entry("key050000", mapLimits.mapKeysMax + 1, "2"));
    expect(counting.rowsRead).toBe(1);
  });
});

function entry(key: string, offset: number, data: string, isRemoved = false): MapEntry {
  return mapEntry(key, { offset, data: trustedJsonText(data), isRemoved });
}

function keyOf(number: number): string {
  return `key${String(number).padStart(4, "0")}`;
}
