import { limits } from "../limits.ts";
import type { Sql } from "../sql.ts";

/**
 * When a home asks the holders of its users whether they still hold them (rule E11), in the table `asked`, which has one
 * row. It costs a row each time.
 */
export class HoldersCheck {
  readonly #sql: Sql;
  /** When they were last asked, or when there first were any; undefined before that. In ms since 1970. */
  #askedAtMs: number | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
    if (sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'asked'").length === 0) return;
    this.#askedAtMs = Number(sql.rows("SELECT time FROM asked")[0]?.["time"] ?? 0);
  }

  /** When they are to be asked, ms since 1970. To be called only while there are holders. */
  dueAtMs(nowMs: number): number {
    if (this.#askedAtMs === undefined) {
      this.#sql.run("CREATE TABLE asked (id INTEGER PRIMARY KEY, time INTEGER NOT NULL)");
      this.asked(nowMs);
    }
    return (this.#askedAtMs ?? nowMs) + limits.eventsHoldersCheckMs;
  }

  /** They have been asked, or are about to be. */
  asked(nowMs: number): void {
    this.#askedAtMs = nowMs;
    this.#sql.run(
      "INSERT INTO asked VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET time = excluded.time",
      nowMs,
    );
  }
}
