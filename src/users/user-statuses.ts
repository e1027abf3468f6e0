import type { UserStatus } from "../contract/user-status.ts";
import { limits } from "../limits.ts";
import { columnText, hasTable, type Sql } from "../sql.ts";

/**
 * The statuses of a share of all users, which a home keeps (rules U25 and U26): a row for each user that was updated or
 * seen. Rows that nobody has changed for `limits.statusKeptMs` are deleted little by little, as new ones come.
 */
export class UserStatuses {
  readonly #sql: Sql;
  #hasTable: boolean;
  /** Up to where rows were looked at for old ones. */
  #checkedTo = "";

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#hasTable = hasTable(sql, "status");
  }

  /** A backend says that these users are active, and what their state is: one row written for each. */
  update(users: readonly string[], state: string, nowSeconds: number): void {
    this.#createTable();
    for (const user of users) this.#sql.run(update, user, nowSeconds, state);
    this.#deleteOld(2 * users.length, nowSeconds);
  }

  /**
   * The last connections of these users on an object have ended: one row written for each, unless the same was noted less
   * than `limits.onlineNoteMs` ago.
   */
  ended(users: readonly string[], nowSeconds: number): void {
    this.#createTable();
    const noted = nowSeconds - limits.onlineNoteMs / 1_000;
    for (const user of users) {
      const { onlineSeconds } = this.#find(user);
      if (onlineSeconds <= noted) this.#sql.run(seen, user, nowSeconds);
    }
    this.#deleteOld(2 * users.length, nowSeconds);
  }

  /** Forgets what is known of these users: one row written for each that has one. */
  remove(users: readonly string[]): void {
    if (!this.#hasTable) return;
    for (const user of users) this.#sql.run("DELETE FROM status WHERE user = ?", user);
  }

  /**
   * What is known of these users.
   *
   * @param online those that are connected
   */
  read(
    users: readonly string[],
    online: ReadonlySet<string>,
    nowSeconds: number,
  ): readonly UserStatus[] {
    return users.map((user) => {
      const status = this.#find(user);
      return online.has(user) ? { ...status, onlineSeconds: nowSeconds } : status;
    });
  }

  #find(user: string): UserStatus {
    const query = "SELECT active, online, state FROM status WHERE user = ?";
    const [row] = this.#hasTable ? this.#sql.rows(query, user) : [];
    if (row === undefined) return { user, activeSeconds: 0, onlineSeconds: 0, state: "" };
    return {
      user,
      activeSeconds: Number(row["active"]),
      onlineSeconds: Number(row["online"]),
      state: columnText(row, "state"),
    };
  }

  /**
   * Looks at so many rows, and deletes those that are too old. Each new row makes two others be looked at, so at most
   * about as many rows are too old as aren't.
   */
  #deleteOld(count: number, nowSeconds: number): void {
    const query = "SELECT user, active, online FROM status WHERE user > ? ORDER BY user LIMIT ?";
    const rows = this.#sql.rows(query, this.#checkedTo, count);
    const oldest = nowSeconds - limits.statusKeptMs / 1_000;
    for (const row of rows) {
      if (Math.max(Number(row["active"]), Number(row["online"])) < oldest)
        this.#sql.run("DELETE FROM status WHERE user = ?", columnText(row, "user"));
    }
    const last = rows.at(-1);
    this.#checkedTo = rows.length < count || last === undefined ? "" : columnText(last, "user");
  }

  #createTable(): void {
    if (!this.#hasTable) this.#sql.run(table);
    this.#hasTable = true;
  }
}

/** Without a rowid, the primary key is the table's only index, and a row costs one row written. */
const table = `CREATE TABLE status (user TEXT PRIMARY KEY, active INTEGER NOT NULL, online INTEGER NOT NULL,
  state TEXT NOT NULL) WITHOUT ROWID`;
const update = `INSERT INTO status VALUES (?, ?, 0, ?)
  ON CONFLICT (user) DO UPDATE SET active = excluded.active, state = excluded.state`;
const seen = `INSERT INTO status VALUES (?, 0, ?, '')
  ON CONFLICT (user) DO UPDATE SET online = excluded.online`;
