import { newestRow } from "./ring.ts";
import type { Sql, SqlRow } from "../sql.ts";

/** The tables a channel may have; each says in a column `time` when its rows were stored, ms since 1970. */
export type StoredTable = "stream" | "publication" | "spared_key" | "gateway";

/** Which of them there are. Asked when an object wakes: they are made only when there is something to store. */
export function storedTables(sql: Sql): ReadonlySet<StoredTable> {
  const rows = sql.rows("SELECT name FROM sqlite_master WHERE type = 'table'");
  const found = new Set(rows.map((row) => row["name"]));
  return new Set(all.filter((table) => found.has(table)));
}

/** When something was last stored, ms since 1970; 0 when nothing is. For storage whose options nobody knows any more. */
export function storedAtMs(sql: Sql): number {
  const times = [...storedTables(sql)].map((table) => Number(newestTime(sql, table) ?? 0));
  return Math.max(0, ...times);
}

/** Of the publications it is the newest one's; the other tables are small beside them. */
function newestTime(sql: Sql, table: StoredTable): SqlRow[string] | undefined {
  if (table !== "publication") {
    return sql.rows(`SELECT max(time) AS time FROM ${table}`)[0]?.["time"];
  }
  const size = Number(sql.rows("SELECT size FROM stream")[0]?.["size"]);
  return newestRow(sql, size)?.["time"];
}

const all = [
  "stream",
  "publication",
  "spared_key",
  "gateway",
] as const satisfies readonly StoredTable[];
