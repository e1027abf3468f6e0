import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mapLimits } from "../../../../src/features/maps/limits.ts";
import { MapExpiry } from "../../../../src/features/maps/map-expiry.ts";
import { StateTable } from "../../../../src/features/maps/state-table.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { mapEntry } from "./map-entry.ts";

const options = { keyTtlMs: 10_000, lingerMs: 0 };

describe("which keys end next", () => {
  it("[Z6] every key ends once, in order, at its time or up to a second later, whenever the object wakes", () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c", "d", "e"),
      afterMs: fc.nat(4_000),
      wakes: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const sql = new NodeSql();
        const state = new StateTable(sql, false);
        let expiry = new MapExpiry({ state }, options, true);
        const due = new Map<string, number>();
        const ended: string[] = [];
        let nowMs = 0;
        let offset = 0;
        const endDue = (): void => {
          for (let calls = 0; (state.dueMs ?? Infinity) <= nowMs; calls++) {
            expect(calls).toBeLessThan(5);
            for (const key of expiry.nextEnded(nowMs)) {
              const dueMs = due.get(key) ?? Infinity;
              expect(dueMs).toBeLessThanOrEqual(nowMs);
              for (const other of due.values()) expect(other + 1_000).toBeGreaterThan(dueMs);
              due.delete(key);
              state.delete(key);
              ended.push(key);
            }
            expiry.settled(nowMs);
          }
          for (const dueMs of due.values()) expect(dueMs + 1_000).toBeGreaterThan(nowMs);
        };
        for (const { key, afterMs, wakes } of steps) {
          nowMs += afterMs;
          if (wakes) expiry = new MapExpiry({ state }, options, false);
          endDue();
          const changed = mapEntry(key, { offset: ++offset, timeMs: nowMs });
          state.write(changed);
          expiry.changed(changed);
          due.set(key, nowMs + options.keyTtlMs);
        }
        nowMs += 20_000;
        endDue();
        expect(due.size).toBe(0);
        expect(state.dueMs).toBeUndefined();
      }),
    );
  });

  it("[Z33] are found among 100,000 in portions, and not looked for again until they have ended", () => {
    const sql = new NodeSql();
    const counting = new CountingSql(sql);
    const first = new StateTable(counting, false);
    first.noteDue(10_000);
    sql.run(
      `WITH RECURSIVE entry (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
        INSERT INTO map_state SELECT 'key' || number, number, number, 0, 0, '0', '', 0, NULL, NULL, '1' FROM entry`,
      mapLimits.mapKeysMax,
    );
    const state = new StateTable(counting, true);
    const expiry = new MapExpiry({ state }, options, false);
    counting.rowsRead = 0;
    expect(expiry.nextEnded(9_999)).toEqual([]);
    expect(counting.rowsRead).toBe(0);
    const rows: number[] = [];
    const ended: string[] = [];
    while (ended.length === 0) {
      counting.rowsRead = 0;
      ended.push(...expiry.nextEnded(11_000));
      expiry.settled(11_000);
      rows.push(counting.rowsRead);
    }
    expect(Math.max(...rows)).toBeLessThanOrEqual(
      mapLimits.mapExpiryRowsMax + mapLimits.mapExpirySliceKeys,
    );
    expect(rows.length).toBe(Math.ceil(mapLimits.mapKeysMax / mapLimits.mapExpiryRowsMax));
    expect(ended).toEqual(
      Array.from({ length: mapLimits.mapExpirySliceKeys }, (_, number) => `key${number + 1}`),
    );
    counting.rowsRead = 0;
    for (const key of ended) state.delete(key);
    expect(expiry.nextEnded(11_000)).toHaveLength(mapLimits.mapExpirySliceKeys);
    expect(counting.rowsRead).toBe(mapLimits.mapExpirySliceKeys);
  });

  it("[Z6] [Z33] are all found, although more end at the same time than are kept", () => {
    const sql = new NodeSql();
    const state = new StateTable(sql, false);
    state.noteDue(10_000);
    const count = 25_000;
    sql.run(
      `WITH RECURSIVE entry (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
        INSERT INTO map_state SELECT 'key' || number, number, 0, 0, 0, '0', '', 0, NULL, NULL, '1' FROM entry`,
      count,
    );
    const expiry = new MapExpiry({ state }, options, false);
    let ended = 0;
    for (let calls = 0; state.dueMs !== undefined; calls++) {
      expect(calls).toBeLessThan(300);
      const keys = expiry.nextEnded(10_000);
      for (const key of keys) state.delete(key);
      ended += keys.length;
      expiry.settled(10_000);
    }
    expect(ended).toBe(count);
    expect(state.isEmpty).toBe(true);
  });

  it("[Z6] noting them costs a row when a key is the first to end, and no row for each change", () => {
    const sql = new NodeSql();
    const state = new StateTable(sql, false);
    const expiry = new MapExpiry({ state }, options, true);
    const due: (number | undefined)[] = [];
    for (let number = 0; number < 2 * mapLimits.mapExpiryKeysMax + 10; number++) {
      expiry.changed(mapEntry(`key${number}`, { offset: number, timeMs: number }));
      if (due.at(-1) !== state.dueMs) due.push(state.dueMs);
    }
    expect(due).toEqual([10_000]);
  });
});
