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

/**
 * Finds the rows of the next slice of a scan of a ring, which goes through the slots.
 *
 * @param low the slot from which the slice begins
 */
export function nextSlice(sql: Sql, table: string, low: number, rowsMax: number): RingSlice {
  const query = `SELECT max(slot) AS high, count(*) AS rows
    FROM (SELECT slot FROM ${table} WHERE slot >= ? ORDER BY slot LIMIT ?)`;
  const [row] = sql.rows(query, low, rowsMax);
  return { low, high: Number(row?.["high"] ?? low), isLast: Number(row?.["rows"]) < rowsMax };
}

/** One slice of a scan of a ring. */
interface RingSlice extends SlotRun {
  /** Whether the ring has no slots after it. */
  readonly isLast: boolean;
}

/** A slice of a scan of all rows, in the order of their slots. */
export interface ScannedSlice {
  /** The slot at which it begins. */
  readonly from: number;
  /** The most rows that are looked at. */
  readonly rowsMax: number;
  /** The slice ends at as many rows that are found. */
  readonly foundMax: number;
}

/** The rows that were found in a slice. */
export interface ScannedRows {
  readonly offsets: readonly number[];
  /** The slot at which the next slice begins; absent if there is none. */
  readonly next?: number;
}

/**
 * Finds rows of a slice of a ring.
 *
 * @param query takes the first and the last slot, the value twice, and the most rows to find
 */
export function scanRows(
  sql: Sql,
  ring: string,
  query: string,
  value: string,
  { from, rowsMax, foundMax }: ScannedSlice,
): ScannedRows {
  const { low, high, isLast } = nextSlice(sql, ring, from, rowsMax);
  const rows = sql.rows(query, low, high, value, value, foundMax);
  const offsets = rows.map((row) => Number(row["offset"]));
  const lastFound = rows.length === foundMax ? rows.at(-1) : undefined;
  if (lastFound !== undefined) return { offsets, next: Number(lastFound["slot"]) + 1 };
  return isLast ? { offsets } : { offsets, next: high + 1 };
}

/** A table that is a ring; its key is the column `slot`. */
export interface Ring {
  readonly table: string;
  /** The column with the number of a row; it is one of `columns`. */
  readonly number: string;
  /** The columns that {@link newestRow} reads, besides `slot`. */
  readonly columns: string;
}

/**
 * Writes all rows of a ring anew in other places, and overwrites the places where they were: SQLite leaves copies there of rows
 * that it has moved (rule ED15). Call this in a transaction, and {@link freeRewritten} once that is committed. It writes a row
 * for each publication.
 */
export function rewriteRows(
  sql: Sql,
  { ring, createRing, total, rowsMax, bytesMax }: RewrittenRows,
): void {
  const [measured] = sql.rows(total, rowsMax + 1);
  const [rows, bytes] = [Number(measured?.["rows"]), Number(measured?.["bytes"] ?? 0)];
  if (rows > rowsMax || bytes > bytesMax) return;
  freeRewritten(sql);
  // SQLite keeps pages at least a third full.
  const usedBytes = 3 * bytes + freeBytes;
  sql.run("CREATE TABLE overwritten (bytes BLOB)");
  // First, so that the rows aren't written between what an older page has left.
  overwriteFree(sql, usedBytes);
  sql.run(`ALTER TABLE ${ring} RENAME TO ${ring}_before`);
  sql.run(createRing);
  sql.run(`INSERT INTO ${ring} SELECT * FROM ${ring}_before`);
  sql.run(`DROP TABLE ${ring}_before`);
  overwriteFree(sql, usedBytes);
}

/** The rows that are written anew. */
interface RewrittenRows {
  readonly ring: string;
  /** The statement that makes the ring. */
  readonly createRing: string;
  /** The query for how many rows there are, of at most so many, and for their bytes. */
  readonly total: string;
  /** If there are more of them, or if they are larger together, nothing is done. */
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** Frees the pages that {@link rewriteRows} has overwritten: SQLite doesn't write a page that is freed in the same commit. */
export function freeRewritten(sql: Sql): void {
  sql.run("DROP TABLE IF EXISTS overwritten");
}

/** Overwrites that many bytes, at least, of pages that the database doesn't use now. */
function overwriteFree(sql: Sql, bytes: number): void {
  for (let left = bytes; left > 0; left -= blankBytes) {
    sql.run("INSERT INTO overwritten VALUES (zeroblob(?))", blankBytes);
    sql.run("INSERT INTO overwritten VALUES (zeroblob(?))", restBytes);
  }
}

/** The free pages that other tables may have left, in bytes. */
const freeBytes = 65_536;
/**
 * A row of so many bytes fills a page of a table up to 17 bytes, and 16 further pages of 4,096 bytes, which have 4 bytes of
 * their own each. The row after it fills these 17 bytes.
 */
const blankBytes = 4_057 + 16 * 4_092;
const restBytes = 9;
