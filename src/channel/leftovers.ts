import type { Sql } from "./sql.ts";

/** Whether a former instance left anything in the storage. */
export function hasLeftovers(sql: Sql): boolean {
  return tablesOf(sql).length > 0;
}

/** When something was last stored, ms since 1970; 0 when nothing is. For storage whose options nobody knows any more. */
export function storedAtMs(sql: Sql): number {
  const times = tablesOf(sql).map((table) => {
    const [newest] = sql.rows(`SELECT max(time) AS time FROM ${table}`);
    return Number(newest?.["time"] ?? 0);
  });
  return Math.max(0, ...times);
}

function tablesOf(sql: Sql): readonly string[] {
  const names = sql.rows("SELECT name FROM sqlite_master WHERE type = 'table'");
  return names.map((row) => String(row["name"])).filter((name) => ours.has(name));
}

const ours: ReadonlySet<string> = new Set(["stream", "publication", "spared_key"]);
