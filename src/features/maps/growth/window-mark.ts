import type { Sql } from "../../../sql.ts";

/**
 * The mark of a map whose subscribers have pieces that aren't durable (rule Z41). It is one row, which is written
 * before the first such piece is sent, and deleted when all pieces are durable. If an instance finds the mark, the
 * instance before ended in between.
 */
export class WindowMark {
  readonly #sql: Sql;
  #exists: boolean;
  #isOpen: boolean;

  /** @param exists whether the table exists; it is made when there is something to store */
  constructor(sql: Sql, exists: boolean) {
    this.#sql = sql;
    this.#exists = exists;
    this.#isOpen = exists && sql.rows("SELECT 1 FROM map_window").length > 0;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** One row written, unless it is there. */
  open(nowMs: number): void {
    if (this.#isOpen) return;
    if (!this.#exists) this.#sql.run(createTable);
    this.#exists = true;
    this.#isOpen = true;
    this.#sql.run("INSERT INTO map_window VALUES (1, ?)", nowMs);
  }

  /** One row written, if it is there. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#sql.run("DELETE FROM map_window");
  }
}

const createTable =
  "CREATE TABLE map_window (id INTEGER PRIMARY KEY CHECK (id = 1), time INTEGER NOT NULL)";
