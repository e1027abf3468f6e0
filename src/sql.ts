/**
 * The storage a channel needs: a synchronous SQLite. One object's database holds one channel, so no query names it.
 * Implemented over a Durable Object's `sql` and, in tests and simulations, over `node:sqlite`.
 */
export interface Sql {
  /** Runs a query and gives all its rows: one left half read would keep its table from being changed. */
  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[];
  /** Runs a statement that changes something. */
  run(statement: string, ...values: readonly SqlValue[]): void;
  /** All of `work` or, when it throws, nothing of it. */
  transaction<Result>(work: () => Result): Result;
}

export type SqlValue = string | number | Uint8Array | null;
/** Bytes are read as what the platform has for them. */
export type SqlRow = Readonly<Record<string, string | number | Uint8Array | ArrayBuffer | null>>;

/**
 * The text in a row's column.
 *
 * @throws where there is something else: then it isn't a column of texts, or the query doesn't ask for it
 */
export function columnText(row: SqlRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === "string") return value;
  throw new Error(`the column ${column} holds no text`);
}
