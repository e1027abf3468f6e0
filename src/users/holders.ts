import { uidOfKey, userOfKey } from "../contract/identity-key.ts";
import { columnText, type Sql } from "../sql.ts";

/**
 * The holders of a home's users and tokens, in the table `holder`: the objects that hold connections of a user, or what
 * was made with a token. It reports when a user gets the first holder, and has lost the last one (rule E11): each time a
 * row of the table is written, in the same stretch.
 */
export class Holders {
  readonly #sql: Sql;
  readonly #report: ReportOnline | undefined;

  /** @param report absent if no backend is told who is online */
  constructor(sql: Sql, report: ReportOnline | undefined) {
    this.#sql = sql;
    this.#report = report;
  }

  /** The nodes of the holders of a user or a token. To be called only if the table exists. */
  of(key: string): readonly string[] {
    const rows = this.#sql.rows("SELECT holder FROM holder WHERE user = ?", key);
    return rows.map((row) => columnText(row, "holder"));
  }

  /**
   * Notes a holder: a row, unless it says no more than the one before.
   *
   * @param endSeconds when the row may be forgotten, in seconds since 1970; 0 for never
   */
  register(key: string, holder: string, endSeconds: number): void {
    const isFirst = this.#isReported(key) && this.of(key).length === 0;
    this.#sql.run(hold, key, holder, endSeconds);
    if (isFirst) this.#report?.(userOfKey(key), true);
  }

  /** The object holds nothing of the user or the token any more: a row, if it was noted. */
  remove(key: string, holder: string): void {
    const before = this.#isReported(key) ? this.of(key).length : 0;
    this.#sql.run("DELETE FROM holder WHERE user = ? AND holder = ?", key, holder);
    if (before > 0 && this.of(key).length === 0) this.#report?.(userOfKey(key), false);
  }

  /** Nobody is online by a token: its connections are those of users. */
  #isReported(key: string): boolean {
    return this.#report !== undefined && uidOfKey(key) === undefined;
  }
}

/** Takes that a user is online from now on, or isn't any more. */
export type ReportOnline = (user: string, isOnline: boolean) => void;

/**
 * Without a rowid, the primary key is the table's only index, and a row costs one row written. `until` says until when the
 * holder may hold what was made with a token, in seconds since 1970; 0 for a user, and for no end.
 */
export const holderTable = `CREATE TABLE holder (user TEXT, holder TEXT, until INTEGER NOT NULL,
  PRIMARY KEY (user, holder)) WITHOUT ROWID`;

/** A registration that says no more than the one before writes no row. */
const hold = `INSERT INTO holder VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until
  WHERE until <> 0 AND (excluded.until = 0 OR excluded.until > until)`;
