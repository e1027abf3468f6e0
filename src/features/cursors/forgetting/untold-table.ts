import { columnText, hasTable, type Sql } from "../../../sql.ts";

/**
 * The table of the users of whom a channel keeps something, and whose homes haven't been told that yet (rule CU31). It is
 * made with the first of them. A row is written with the first one that is kept of the user, in the same commit.
 */
export class UntoldTable {
  readonly #sql: Sql;
  #exists: boolean;
  readonly #users = new Map<string, number>();

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "untold_user");
    if (!this.#exists) return;
    for (const row of sql.rows("SELECT user, time FROM untold_user"))
      this.#users.set(columnText(row, "user"), Number(row["time"]));
  }

  /** The users, with the times from which on something of them has been kept, ms since 1970. */
  get users(): ReadonlyMap<string, number> {
    return this.#users;
  }

  /** Notes a user; who is noted already stays so since then. */
  add(user: string, nowMs: number): void {
    if (this.#users.has(user)) return;
    if (!this.#exists) this.#sql.run(table);
    this.#exists = true;
    this.#sql.run("INSERT INTO untold_user VALUES (?, ?)", user, nowMs);
    this.#users.set(user, nowMs);
  }

  remove(user: string): void {
    if (this.#users.delete(user)) this.#sql.run("DELETE FROM untold_user WHERE user = ?", user);
  }

  /** The table is gone, which had no rows. */
  deleted(): void {
    this.#exists = false;
  }

  /** Has a user come after all others. */
  putOff(user: string): void {
    const sinceMs = this.#users.get(user);
    if (sinceMs === undefined) return;
    this.#users.delete(user);
    this.#users.set(user, sinceMs);
  }
}

const table = `CREATE TABLE untold_user (user TEXT PRIMARY KEY, time INTEGER NOT NULL) WITHOUT ROWID`;
