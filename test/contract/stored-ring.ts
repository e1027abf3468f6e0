import type { Sql } from "../../src/sql.ts";
import { statementsOf } from "../../src/channel/history-table.ts";

/** A stream as a long-lived channel stores it, without the time for publishing it. */
export interface StoredRing {
  readonly size: number;
  /** Of the oldest publication in the ring, and of the newest. */
  readonly first: number;
  readonly top: number;
  /** The newest so many have keys: `key<offset>`. */
  readonly keyed?: number;
  /** The newest so many came at `newestMs`, the others at 0. */
  readonly young?: number;
  readonly newestMs?: number;
}

/**
 * Stores a ring in which each publication's data is its offset. The cast is for Node's SQLite, which stores every
 * number as a real.
 */
export function storeRing(sql: Sql, ring: StoredRing): void {
  const { size, first, top, keyed = 0, young = 0, newestMs = 0 } = ring;
  const tables = statementsOf("publication");
  for (const statement of tables.create) sql.run(statement);
  sql.run(tables.upsertStream, size, "epoch", first - 1, first, 0, "0", "");
  sql.run(
    `WITH RECURSIVE entry (number) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
      INSERT INTO publication SELECT number % ?, number, iif(number > ?, ?, 0), ?, '0', '',
        iif(number > ?, 'key' || number, NULL), 0, NULL, NULL, number FROM entry WHERE number <= ?`,
    first,
    top,
    size,
    top - young,
    newestMs,
    first,
    top - keyed,
    top,
  );
}
