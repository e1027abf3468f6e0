import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { Sql, SqlRow, SqlValue } from "../../src/sql.ts";

/**
 * The core's storage port over Node's own SQLite: in memory, or in a file that a second instance can open afterwards.
 */
export class NodeSql implements Sql {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #depth = 0;

  constructor(path = ":memory:") {
    // Loaded here, because a Node.js that is too old for the kit hasn't it, and is told so.
    this.#database = new (process.getBuiltinModule("node:sqlite").DatabaseSync)(path);
  }

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#prepared(query)
      .all(...values)
      .filter(isSqlRow);
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.#prepared(statement).run(...values);
  }

  transaction<Result>(work: () => Result): Result {
    const isOuter = this.#depth++ === 0;
    this.#database.exec(isOuter ? "BEGIN" : "SAVEPOINT inner_level");
    try {
      const result = work();
      this.#database.exec(isOuter ? "COMMIT" : "RELEASE inner_level");
      return result;
    } catch (error) {
      this.#database.exec(isOuter ? "ROLLBACK" : "ROLLBACK TO inner_level; RELEASE inner_level");
      throw error;
    } finally {
      this.#depth--;
    }
  }

  close(): void {
    this.#database.close();
  }

  #prepared(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

/** Tells the type of a row. @throws if a column holds a bigint: the core stores no integers that need one */
export function isSqlRow(row: StoredRow): row is StoredRow & SqlRow {
  for (const value of Object.values(row)) {
    if (typeof value === "bigint") throw new Error("A column holds a bigint");
  }
  return true;
}

type StoredRow = Readonly<Record<string, SQLOutputValue>>;
