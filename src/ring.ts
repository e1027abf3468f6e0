import type { Sql, SqlRow } from "./sql.ts";

/**
 * Rings of rows: tables in which the row of number n lies at slot n % size, so that a new row takes the place of the
 * oldest one and costs one row written. The history of a channel is one, and the events of an object are another.
 */

/** Consecutive slots of the ring, both ends included. */
export interface SlotRun {
  readonly low: number;
  readonly high: number;
}

/** The slots of consecutive numbers, oldest first: one run, or two where the ring wraps. */
export function slotRuns(first: number, last: number, size: number): readonly SlotRun[] {
  const [low, high] = [first % size, last % size];
  if (low <= high) return [{ low, high }];
  return [
    { low, high: size - 1 },
    { low: 0, high },
  ];
}

/**
 * Finds the newest row of a ring by its key alone: reading the ring would cost a waking object as much as the ring is
 * long (rule H11). A row takes the slot after the one before it, and rows are deleted from the oldest one on, never the
 * newest. So the slots from the lowest row up to the newest one hold the latest round of the ring (number / size, rounded
 * down, is the same for all of them), and all other slots hold the round before, or nothing. The search bisects the
 * slots: it reads 2 rows and at most log2(size) more, 19 in all for a ring of 100,000.
 *
 * @param size the size of the ring when its rows were written
 * @returns the ring's columns of the row; undefined if the ring is empty
 */
export function newestRow(
  sql: Sql,
  { table, columns, number }: Ring,
  size: number,
): SqlRow | undefined {
  const select = `SELECT slot, ${columns} FROM ${table}`;
  const roundOf = (row: SqlRow): number => Math.floor(Number(row[number]) / size);
  const lowest = sql.rows(`${select} ORDER BY slot LIMIT 1`)[0];
  const highest = sql.rows(`${select} ORDER BY slot DESC LIMIT 1`)[0];
  if (lowest === undefined || highest === undefined) return undefined;
  const latest = roundOf(lowest);
  if (roundOf(highest) === latest) return highest;
  let newest = lowest;
  let beyond = Number(highest["slot"]);
  for (;;) {
    const slot = Number(newest["slot"]);
    if (slot + 1 === beyond) return newest;
    const middle = Math.floor((slot + beyond) / 2);
    const row = sql.rows(`${select} WHERE slot = ?`, middle)[0];
    if (row !== undefined && roundOf(row) === latest) newest = row;
    else beyond = middle;
  }
}

/** A table that is a ring; its key is the column `slot`. */
export interface Ring {
  readonly table: string;
  /** The column with the number of a row; it is one of `columns`. */
  readonly number: string;
  /** The columns that {@link newestRow} reads, besides `slot`. */
  readonly columns: string;
}
