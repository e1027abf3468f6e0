import { type Sql, columnText } from "../../src/sql.ts";

/** The names of our own tables; the platform's begin with an underscore. */
export function tableNames(sql: Sql): string[] {
  const query = String.raw`SELECT name FROM sqlite_master WHERE name NOT LIKE '\_%' ESCAPE '\' ORDER BY name`;
  return [...sql.rows(query)].map((row) => columnText(row, "name"));
}

/** How many idempotency keys have a row of their own; old ones count until their row is used again. */
export function sparedRowCount(sql: Sql): number {
  if (!tableNames(sql).includes("spared_key")) return 0;
  const [row] = sql.rows("SELECT count(*) AS count FROM spared_key");
  return Number(row?.["count"]);
}
