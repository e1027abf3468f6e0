import type { Sql, SqlRow } from "../sql.ts";

/** Consecutive slots of the ring, both ends included. */
export interface SlotRun {
  readonly low: number;
  readonly high: number;
}

/** The slots of consecutive offsets, oldest first: one run, or two where the ring wraps. */
export function slotRuns(first: number, last: number, size: number): readonly SlotRun[] {
  const [low, high] = [first % size, last % size];
  if (low <= high) return [{ low, high }];
  return [
    { low, high: size - 1 },
    { low: 0, high },
  ];
}

/**
 * Finds the row of the newest publication, which holds the state of the stream, by its key alone: reading the ring
 * would cost a waking object as much as the history is long (rule H11). The ring has no holes, because a publication
 * takes the slot after the one before it, and rows are deleted only all at once. So the slots from the lowest one up to
 * that of the newest publication hold the latest round of the ring (offset / size, rounded down, is the same for all of
 * them), and all other slots hold the round before. The search bisects the slots: it reads 2 rows and at most
 * log2(size) more, 19 in all for a ring of 100,000.
 *
 * @param size the size of the ring when its rows were written
 * @returns undefined if the ring is empty
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

/** How many times the ring had been filled when a row was written. */
function roundOf(row: SqlRow, size: number): number {
  return Math.floor(Number(row["offset"]) / size);
}
