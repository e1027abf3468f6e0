import type { Sql, SqlRow, SqlValue } from "../../src/sql.ts";

/** A Durable Object's SQLite as the core wants it. Counts what the platform bills. */
export class ObjectSql implements Sql {
  readonly #storage: DurableObjectStorage;
  /** Rows written through this port since the object woke. */
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
