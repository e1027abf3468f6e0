import type { SqlRow } from "../../src/channel/sql.ts";

/** The text in a row's column; throws where there is something else. */
export function columnText(row: SqlRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === "string") return value;
  throw new Error(`the column ${column} holds no text`);
}
