import { hasTable, type Sql } from "../../sql.ts";
import { addStretch, type Coverage, type Stretch } from "./coverage.ts";
import { cursorLimits } from "./limits.ts";

/**
 * The table of what members received before the stretch in their own rows, until that is judged (rule CU45). It has a
 * row for each stretch, and is made with the first row. It is a table of its own because the release before writes the
 * columns of a user's row by their order.
 */
export class EarlierTable {
  readonly #sql: Sql;
  #exists: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "user_got");
  }

  /** The stretches of a user in an epoch, in order, with holes between them. */
  of(user: string, epoch: string): readonly Stretch[] {
    if (!this.#exists) return [];
    const query = "SELECT since, offset FROM user_got WHERE user = ? AND epoch = ? ORDER BY since";
    return this.#sql
      .rows(query, user, epoch)
      .map((row) => ({ since: Number(row["since"]), offset: Number(row["offset"]) }));
  }

  /** Adds a stretch of a user: one row written, and one for each that it joins. */
  add(user: string, { epoch, since, offset }: Coverage, nowMs: number): void {
    const kept = this.of(user, epoch);
    if (kept.some((one) => one.since <= since && offset <= one.offset)) return;
    if (!this.#exists) this.#sql.run(table);
    this.#exists = true;
    const stretches = addStretch(kept, { since, offset }, cursorLimits.stretchesMax);
    for (const one of kept)
      if (!stretches.includes(one))
        this.#sql.run("DELETE FROM user_got WHERE user = ? AND since = ?", user, one.since);
    for (const one of stretches) if (!kept.includes(one)) this.#write(user, epoch, one, nowMs);
  }

  /**
   * Deletes the stretches of users after a name that are judged, or that are of another epoch.
   *
   * @param last     the last of these users; undefined for all
   * @param judgedTo everything up to this offset of the epoch is judged for them
   */
  prune(after: string, last: string | undefined, epoch: string, judgedTo: number): void {
    if (!this.#exists) return;
    const old = "DELETE FROM user_got WHERE (epoch <> ? OR offset <= ?) AND user > ?";
    if (last === undefined) this.#sql.run(old, epoch, judgedTo, after);
    else this.#sql.run(`${old} AND user <= ?`, epoch, judgedTo, after, last);
  }

  /** Deletes all stretches of a user. */
  remove(user: string): void {
    if (this.#exists) this.#sql.run("DELETE FROM user_got WHERE user = ?", user);
  }

  /** Deletes all stretches: nothing that came before now will be reported. */
  clear(): void {
    if (this.#exists) this.#sql.run("DROP TABLE user_got");
    this.#exists = false;
  }

  /** The table is gone. */
  deleted(): void {
    this.#exists = false;
  }

  #write(user: string, epoch: string, { since, offset }: Stretch, nowMs: number): void {
    const insert = "INSERT OR REPLACE INTO user_got VALUES (?, ?, ?, ?, ?)";
    this.#sql.run(insert, user, since, nowMs, epoch, offset);
  }
}

const table = `CREATE TABLE user_got (user TEXT NOT NULL, since INTEGER NOT NULL, time INTEGER NOT NULL,
  epoch TEXT NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (user, since)) WITHOUT ROWID`;
