/**
 * The port to storage: a synchronous SQLite database. The database of a channel object holds one channel, so no query
 * names the channel. A Durable Object's `sql` implements it and, in tests and simulations, `node:sqlite`.
 */
export interface Sql {
  /**
   * Runs a query and returns all its rows: a result that is read only in part would keep its table from being changed.
   */
  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[];
  /** Runs a statement that changes something. */
  run(statement: string, ...values: readonly SqlValue[]): void;
  /** Carries out all changes of `work` or, if it throws, none of them. */
  transaction<Result>(work: () => Result): Result;
}

/** A value that is bound to a statement. */
export type SqlValue = string | number | Uint8Array | null;
/** A row of a result, by column. Bytes are read as the platform's own type for them. */
export type SqlRow = Readonly<Record<string, string | number | Uint8Array | ArrayBuffer | null>>;

/** Whether a table exists: many are made only when there is something to store. */
export function hasTable(sql: Sql, name: string): boolean {
  return sql.rows(`SELECT 1 FROM sqlite_master WHERE name = '${name}'`).length > 0;
}

/**
 * The text in a column of a row.
 *
 * @throws if the value isn't text: the column holds something else, or the query doesn't select it
 */
export function columnText(row: SqlRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === "string") return value;
  throw new Error(`the column ${column} holds no text`);
}
