import type { Sql, SqlRow, SqlValue } from "../../src/sql.ts";

/** The core's port to SQL, on the SQLite database of a Durable Object. It counts the rows that the platform bills. */
export class ObjectSql implements Sql {
  readonly #storage: DurableObjectStorage;
  /** The rows written through this port since the object woke. */
  rowsWritten = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#storage.sql
      .exec<Record<string, string | number | ArrayBuffer | null>>(query, ...values)
      .toArray();
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.rowsWritten += this.#storage.sql.exec(statement, ...values).rowsWritten;
  }

  transaction<Result>(work: () => Result): Result {
    return this.#storage.transactionSync(work);
  }
}
