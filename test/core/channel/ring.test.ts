import * as fc from "fast-check";
import { expect, it } from "vitest";
import { newestRow } from "../../../src/ring.ts";
import { type Sql, columnText } from "../../../src/sql.ts";
import { ringOf, storedAtMs, storedTables } from "../../../src/channel/stored-tables.ts";
import { loadStream, statementsOf, type StoredStream } from "../../../src/channel/history-table.ts";
import { limits } from "../../../src/limits.ts";
import { openChannel, positionOf, publishing } from "../../contract/open-channel.ts";
import { storeRing } from "../../contract/stored-ring.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const tables = statementsOf("publication");

/**
 * The reads allowed for finding the newest row: the lowest row, the highest, and the bisection of the slots between
 * them.
 */
const rowsReadMax = (size: number): number => 2 + Math.ceil(Math.log2(size));

it("[H11] finds the newest row of any small ring, however full and wherever it wraps", () => {
  const sql = new NodeSql();
  for (const statement of tables.create) sql.run(statement);
  const counting = new CountingSql(sql);
  for (let size = 1; size <= 11; size++) {
    for (let first = 1; first <= 2 * size + 1; first++) {
      sql.run("DELETE FROM publication");
      expect(newestRow(sql, ringOf("publication"), size)).toBeUndefined();
      for (let top = first; top <= first + 2 * size; top++) {
        sql.run(
          tables.upsertPublication,
          top % size,
          top,
          top,
          1,
          "0",
          "",
          null,
          0,
          null,
          null,
          "",
        );
        counting.rowsRead = 0;
        const found = newestRow(counting, ringOf("publication"), size);
        expect([size, first, top, found?.["offset"]]).toEqual([size, first, top, top]);
        expect(counting.rowsRead).toBeLessThanOrEqual(rowsReadMax(size));
      }
    }
  }
});

it.each([
  [10, 6],
  [100, 9],
  [1_000, 12],
  [10_000, 16],
  [limits.historySizeMax, 19],
])(
  "[H11] finds the newest of %i publications in %i rows at most, and each where it is",
  (size, rowsMax) => {
    const sql = new NodeSql();
    for (const top of [size - 1, size, size + 1, 1.5 * size, 2 * size - 2, 7 * size + 3]) {
      for (const statement of tables.drop) sql.run(statement);
      storeRing(sql, { size, first: Math.max(1, top - size + 1), top });
      const counting = new CountingSql(sql);
      expect(newestRow(counting, ringOf("publication"), size)).toMatchObject({
        offset: top,
        slot: top % size,
      });
      expect(counting.rowsRead).toBeLessThanOrEqual(rowsMax);
      expect(rowsReadMax(size)).toBe(rowsMax);
    }
  },
);

it("[H11] wakes a channel of the largest size with 26 rows read, and publishes with none", () => {
  const sql = new NodeSql();
  const size = limits.historySizeMax;
  const top = 7 * size + size / 2;
  storeRing(sql, { size, first: top - size + 1, top, keyed: size });
  const counting = new CountingSql(sql);
  const options = { historySize: size, historyTtlMs: 3_600_000 };
  const channel = openChannel(counting, { options, nowMs: limits.idempotencyMs });
  // Besides those of the ring: the stream's own, and three times the names of the two tables.
  expect(counting.rowsRead).toBeLessThanOrEqual(19 + 1 + 3 * 2);
  counting.rowsRead = 0;
  for (let count = 1; count <= 3; count++) {
    channel.publish(publishing(0), undefined, limits.idempotencyMs);
    expect(positionOf(channel, limits.idempotencyMs)).toEqual({
      epoch: "epoch",
      offset: top + count,
    });
  }
  expect(counting.rowsRead).toBe(0);
});

it("[H13] finds in few rows when something was last stored in the largest ring", () => {
  const sql = new NodeSql();
  const size = limits.historySizeMax;
  storeRing(sql, { size, first: 6, top: size + 5, young: 1, newestMs: 9_000 });
  const counting = new CountingSql(sql);
  expect(storedAtMs(counting)).toBe(9_000);
  // The two tables' names, the stream's time and its size.
  expect(counting.rowsRead).toBeLessThanOrEqual(19 + 2 + 2);
});

it("[H11] [H7] finds the stream that reading all rows finds, whatever became of the channel", () => {
  const property = fc.property(fc.array(steps, { minLength: 1, maxLength: 40 }), (instance) => {
    const sql = new NodeSql();
    let nowMs = 0;
    let size = 3;
    const opened = () =>
      openChannel(sql, {
        options: { historySize: size, historyTtlMs: ttlMs, historyMetaTtlMs: 20 * ttlMs },
        nowMs,
      });
    let channel = opened();
    for (const { step, count } of instance) {
      if (step === "wait") nowMs += count * 100;
      if (step === "remove") channel.removeHistory(nowMs);
      if (step === "resize") size = count;
      if (step === "resize" || step === "sleep") channel = opened();
      for (let left = step === "publish" ? count : 0; left > 0; left--) {
        const version = left % 3 === 0 ? BigInt(nowMs + count) : 0n;
        channel.publish(publishing(left, { version }), undefined, nowMs);
      }
      const counting = new CountingSql(sql);
      expect(loadStream(counting, storedTables(counting))).toEqual(streamReadWhole(sql));
      // Besides: the stream's own row and the tables' names.
      expect(counting.rowsRead).toBeLessThanOrEqual(rowsReadMax(size) + 3);
    }
    sql.close();
  });
  fc.assert(property, { seed: 20_261_121, numRuns: 300 });
});

const ttlMs = 1_000;

const steps = fc.oneof(
  { weight: 6, arbitrary: counted("publish", 1, 20) },
  { weight: 2, arbitrary: counted("resize", 1, 17) },
  { weight: 2, arbitrary: counted("wait", 1, 15) },
  { weight: 1, arbitrary: counted("remove", 1, 1) },
  { weight: 1, arbitrary: counted("sleep", 1, 1) },
);

function counted<Name extends string>(name: Name, min: number, max: number) {
  return fc.record({ step: fc.constant(name), count: fc.integer({ min, max }) });
}

/** The same as {@link loadStream} gives, the slow and obvious way. */
function streamReadWhole(sql: Sql): StoredStream | undefined {
  const named = sql.rows("SELECT * FROM sqlite_master WHERE name = 'stream'");
  const meta = named.length === 0 ? undefined : sql.rows("SELECT *, top AS offset FROM stream")[0];
  if (meta === undefined) return undefined;
  const rows = [...sql.rows("SELECT * FROM publication")];
  rows.sort((left, right) => Number(right["offset"]) - Number(left["offset"]));
  const newest = rows[0] ?? meta;
  return {
    size: Number(meta["size"]),
    stream: {
      epoch: columnText(meta, "epoch"),
      top: Number(newest["offset"]),
      floor: Number(newest["floor"]),
      timeMs: Number(newest["time"]),
      version: BigInt(columnText(newest, "version")),
      versionEpoch: columnText(newest, "version_epoch"),
    },
  };
}
