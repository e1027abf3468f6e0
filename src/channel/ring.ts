import type { Sql, SqlRow } from "../sql.ts";

/** Slots of the ring, both included. */
export interface SlotRun {
  readonly low: number;
  readonly high: number;
}

/** Where consecutive offsets lie, oldest first: in one run of slots, or in two where the ring wraps. */
export function slotRuns(first: number, last: number, size: number): readonly SlotRun[] {
  const [low, high] = [first % size, last % size];
  if (low <= high) return [{ low, high }];
  return [
    { low, high: size - 1 },
    { low: 0, high },
  ];
}

/**
 * Finds the row of the newest publication, with what it tells of the stream, by its key alone: reading the ring would cost
 * a waking object as much as the history is long. The ring has no holes, since a publication takes the slot after the one
 * before it and only all rows go at once. So the slots from the lowest one up to the newest publication's hold the latest
 * round (their offsets are as often divisible by the size), and all others the round before. That is bisected: 2 rows
 * read and log2(size) at most, 19 of a ring of 100,000.
 *
 * @param size the ring's size as its rows were written
 * @returns undefined when the ring is empty
 */
export function newestRow(sql: Sql, size: number): SqlRow | undefined {
  const lowest = sql.rows(`${select} ORDER BY slot LIMIT 1`)[0];
  const highest = sql.rows(`${select} ORDER BY slot DESC LIMIT 1`)[0];
  if (lowest === undefined || highest === undefined) return undefined;
  const latest = roundOf(lowest, size);
  if (roundOf(highest, size) === latest) return highest;
  let newest = lowest;
  let beyond = Number(highest["slot"]);
  for (;;) {
    const slot = Number(newest["slot"]);
    if (slot + 1 === beyond) return newest;
    const middle = Math.floor((slot + beyond) / 2);
    const row = sql.rows(`${select} WHERE slot = ?`, middle)[0];
    if (row !== undefined && roundOf(row, size) === latest) newest = row;
    else beyond = middle;
  }
}

const select = "SELECT slot, offset, time, floor, version, version_epoch FROM publication";

/** How often the ring had been gone round when a row was written. */
function roundOf(row: SqlRow, size: number): number {
  return Math.floor(Number(row["offset"]) / size);
}
