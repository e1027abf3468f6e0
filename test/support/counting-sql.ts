import type { Sql, SqlRow, SqlValue } from "../../src/sql.ts";

/** A storage that counts its changes, and the rows that its queries return. These are the rows read, as long as no query skips any. */
export class CountingSql implements Sql {
  readonly #sql: Sql;
  rowsRead = 0;
  /** Statements that change rows, which is one row each where they name its key. */
  changes = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    const rows = this.#sql.rows(query, ...values);
    this.rowsRead += rows.length;
    return rows;
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    if (!statement.startsWith("CREATE")) this.changes++;
    this.#sql.run(statement, ...values);
  }

  transaction<Result>(work: () => Result): Result {
    return this.#sql.transaction(work);
  }
}
