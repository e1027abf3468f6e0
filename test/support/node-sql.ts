import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import type { Sql, SqlRow, SqlValue } from "../../src/sql.ts";

/**
 * The core's storage port over Node's own SQLite: in memory, or in a file that a second instance can open afterwards.
 */
export class NodeSql implements Sql {
  readonly #database: DatabaseSync;

  constructor(path = ":memory:") {
    this.#database = new DatabaseSync(path);
  }

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#database
      .prepare(query)
      .all(...values)
      .filter(isSqlRow);
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.#database.prepare(statement).run(...values);
  }

  transaction<Result>(work: () => Result): Result {
    this.#database.exec("BEGIN");
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** The core stores no integers that need a bigint. */
function isSqlRow(row: StoredRow): row is StoredRow & SqlRow {
  for (const value of Object.values(row)) {
    if (typeof value === "bigint") throw new Error("A column holds a bigint");
  }
  return true;
}

type StoredRow = Readonly<Record<string, SQLOutputValue>>;
