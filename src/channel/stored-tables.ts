import { newestRow, type Ring } from "../ring.ts";
import type { Sql, SqlRow } from "../sql.ts";

/**
 * The tables that exist. A waking object asks for them, because a table is made only when there is something to store.
 */
export function storedTables(sql: Sql): ReadonlySet<StoredTable> {
  const rows = sql.rows("SELECT name FROM sqlite_master WHERE type = 'table'");
  const found = new Set(rows.map((row) => row["name"]));
  return new Set(all.filter((table) => found.has(table)));
}

/**
 * When something was last stored, ms since 1970; 0 if nothing is stored. This is for the storage of a channel whose
 * namespace has left the configuration, so that its options are unknown (rule H13).
 */
export function storedAtMs(sql: Sql): number {
  const times = [...storedTables(sql)].map((table) => Number(newestTime(sql, table) ?? 0));
  return Math.max(0, ...times);
}

/**
 * A ring may be large, so only its newest row is read. Nothing in the state of a map is newer than in its ring. The
 * other tables are small beside them.
 */
function newestTime(sql: Sql, table: StoredTable): SqlRow[string] | undefined {
  if (table === "map_state") return undefined;
  if (table !== "publication" && table !== "map_change") {
    return sql.rows(`SELECT max(time) AS time FROM ${table}`)[0]?.["time"];
  }
  const size = Number(sql.rows("SELECT size FROM stream")[0]?.["size"]);
  return newestRow(sql, ringOf(table), size)?.["time"];
}

/**
 * Deletes the tables that a channel stored while its namespace had another `subscription_type` or `map.mode`. Such a
 * stream can't be continued, because a map's stream needs its keys and another stream has none. So the channel begins
 * anew, with a new epoch (rule Z12).
 *
 * @param own    the tables of the channel's kind, beside {@link ofAnyKind}
 * @param tables those that exist
 * @returns the tables that stay
 */
export function dropOtherTables(
  own: readonly StoredTable[],
  sql: Sql,
  tables: ReadonlySet<StoredTable>,
): ReadonlySet<StoredTable> {
  const dropped: StoredTable[] = all.filter(
    (table) => ofAnyKind[table] !== true && !own.includes(table) && tables.has(table),
  );
  if (dropped.length === 0) return tables;
  // The row of `stream` belongs to the ring.
  if (dropped.includes("publication") || dropped.includes("map_change")) dropped.push("stream");
  sql.transaction(() => {
    for (const table of dropped) sql.run(`DROP TABLE IF EXISTS ${table}`);
  });
  const left = new Set(tables);
  for (const table of dropped) left.delete(table);
  return left;
}

/** The tables that don't depend on the kind of the stream. */
const ofAnyKind: Partial<Record<StoredTable, true>> = {
  stream: true,
  gateway: true,
  user_mark: true,
  user_got: true,
  audience_member: true,
  audience_judged: true,
  untold_user: true,
  author: true,
  untold_author: true,
  procedure_timer: true,
  procedure_result: true,
  procedure_version: true,
};

/** The ring of publications or of a map's changes, with the columns that hold the state of the stream. */
export function ringOf(table: RingTable): Ring {
  return { table, number: "offset", columns: "offset, time, floor, version, version_epoch" };
}

/**
 * The tables that hold the stream of a channel, as a ring: those of its publications, or of its changes if it is a map.
 */
export type RingTable = "publication" | "map_change";

/** The tables that a channel object may have. The column `time` of each says when a row was stored, ms since 1970. */
export type StoredTable =
  | RingTable
  | "stream"
  | "spared_key"
  | "gateway"
  | "map_state"
  | "map_due"
  | "map_checkpoint"
  | "map_window"
  | "user_mark"
  | "user_got"
  | "audience_member"
  | "audience_judged"
  | "untold_user"
  | "author"
  | "untold_author"
  | "procedure_key"
  | "procedure_timer"
  | "procedure_result"
  | "procedure_version";

const all = [
  "stream",
  "publication",
  "spared_key",
  "gateway",
  "map_change",
  "map_state",
  "map_due",
  "map_checkpoint",
  "map_window",
  "user_mark",
  "user_got",
  "audience_member",
  "audience_judged",
  "untold_user",
  "author",
  "untold_author",
  "procedure_key",
  "procedure_timer",
  "procedure_result",
  "procedure_version",
] as const satisfies readonly StoredTable[];
