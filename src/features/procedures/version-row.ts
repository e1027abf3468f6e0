import type { Sql } from "../../sql.ts";

/** The version of what the keys of a channel hold (rule PC8): one row, which only code with a version above 1 writes. */
export class VersionRow {
  readonly #sql: Sql;
  #exists: boolean;
  #stored: number | undefined;

  /** @param exists whether the table does; it is made when there is something to store */
  constructor(sql: Sql, exists: boolean) {
    this.#sql = sql;
    this.#exists = exists;
  }

  /** Undefined if none is stored. */
  get stored(): number | undefined {
    if (!this.#exists) return undefined;
    this.#stored ??= Number(
      this.#sql.rows("SELECT version FROM procedure_version")[0]?.["version"],
    );
    return this.#stored;
  }

  write(version: number, nowMs: number): void {
    this.#stored = undefined;
    if (!this.#exists) this.#sql.run(createTable);
    this.#exists = true;
    this.#sql.run(upsert, version, nowMs);
  }

  /** Forgets what was known of the table: the storage was deleted. */
  dropped(): void {
    this.#exists = false;
    this.#stored = undefined;
  }
}

const createTable = `CREATE TABLE procedure_version (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL,
  time INTEGER NOT NULL)`;
const upsert = `INSERT INTO procedure_version VALUES (1, ?, ?)
  ON CONFLICT (id) DO UPDATE SET version = excluded.version, time = excluded.time`;
