import { limits } from "../limits.ts";
import { columnText, type Sql } from "../sql.ts";
import type { Holders } from "./holders.ts";
import { dueMoment } from "../moment.ts";

/**
 * Finds the registrations of users and tokens that a holder doesn't hold any more (rule U15): a crashed object reports
 * nothing to the home, and other objects report only if it is asked for. The home sweeps once a week, or each hour if a
 * backend gets events of users who are online (rule E17). It asks each holder about its registered users, some at a
 * time, and forgets the ones that the holder doesn't hold. The only row of the table `sweep` says when the next sweep
 * is due, and how far one under way has come. So a home that ends meanwhile goes on.
 */
export class HolderSweep {
  readonly #sql: Sql;
  readonly #holders: Holders;
  readonly #intervalMs: number;
  readonly #open = new Set<HolderQuestion>();
  #dueAtMs = Number.POSITIVE_INFINITY;
  /** The last registration of the slice before; undefined at the beginning. */
  #after: RegistrationRow | undefined;

  /**
   * @param hasTables  whether the home has tables; if not, it has no registrations either
   * @param intervalMs from the first registration to the first sweep, and from the end of a sweep to the next one
   */
  constructor(sql: Sql, hasTables: boolean, holders: Holders, intervalMs: number) {
    this.#sql = sql;
    this.#holders = holders;
    this.#intervalMs = intervalMs;
    if (!hasTables) return;
    sql.run(sweepTable);
    const [row] = sql.rows("SELECT due, user, holder FROM sweep");
    if (row === undefined) return;
    this.#dueAtMs = Number(row["due"]);
    if (row["user"] !== null)
      this.#after = { user: columnText(row, "user"), holder: columnText(row, "holder") };
  }

  /** When the next sweep is due, ms since 1970; Infinity without registrations. */
  dueAtMs(nowMs: number): number {
    return dueMoment(this.#dueAtMs, this.#intervalMs, nowMs);
  }

  /** Takes note of a registration: plans a sweep, unless one is planned, and keeps one under way from forgetting it. */
  registered(user: string, holder: string, nowMs: number): void {
    for (const { holder: asked, users } of this.#open) if (asked === holder) users.delete(user);
    // It may have been planned with a longer interval.
    if (this.#dueAtMs <= nowMs + this.#intervalMs) return;
    this.#sql.run(sweepTable);
    this.#plan(nowMs + this.#intervalMs, undefined);
  }

  /**
   * The questions of the next slice, to be asked now; each of them is {@link answered} once. Without any, the sweep has
   * ended, or none is due.
   */
  next(nowMs: number): readonly HolderQuestion[] {
    if (this.dueAtMs(nowMs) > nowMs) return [];
    const { user, holder } = this.#after ?? { user: "", holder: "" };
    const rows = this.#sql.rows(slice, user, holder, limits.sweepSliceMax);
    const byHolder = new Map<string, Set<string>>();
    let last: RegistrationRow | undefined;
    for (const row of rows) {
      last = { user: columnText(row, "user"), holder: columnText(row, "holder") };
      const users = byHolder.get(last.holder) ?? new Set();
      byHolder.set(last.holder, users.add(last.user));
    }
    if (last === undefined) this.#end(nowMs);
    else this.#plan(Math.min(this.#dueAtMs, nowMs), last);
    const questions = [...byHolder].map(([asked, users]) => ({ holder: asked, users }));
    for (const question of questions) this.#open.add(question);
    return questions;
  }

  /**
   * Forgets the users whom the holder doesn't hold, unless it has registered them since it was asked.
   *
   * @param held undefined if the holder didn't answer: then its registrations stay until the next sweep
   * @returns the users that were forgotten
   */
  answered(question: HolderQuestion, held: readonly string[] | undefined): ReadonlySet<string> {
    this.#open.delete(question);
    if (held === undefined) return new Set();
    const { holder, users } = question;
    for (const user of held) users.delete(user);
    for (const user of users) this.#holders.remove(user, holder);
    return users;
  }

  #end(nowMs: number): void {
    const [left] = this.#sql.rows("SELECT 1 FROM holder LIMIT 1");
    if (left !== undefined) {
      this.#plan(nowMs + this.#intervalMs, undefined);
      return;
    }
    this.#sql.run("DELETE FROM sweep");
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    this.#after = undefined;
  }

  #plan(dueAtMs: number, after: RegistrationRow | undefined): void {
    this.#dueAtMs = dueAtMs;
    this.#after = after;
    this.#sql.run(upsert, dueAtMs, after?.user ?? null, after?.holder ?? null);
  }
}

/** What a holder is asked: which of these users it holds connections of. */
export interface HolderQuestion {
  readonly holder: string;
  /** The keys of users and tokens. Those that the holder registers meanwhile are taken out. */
  readonly users: Set<string>;
}

interface RegistrationRow {
  readonly user: string;
  readonly holder: string;
}

const sweepTable = `CREATE TABLE IF NOT EXISTS sweep
  (id INTEGER PRIMARY KEY CHECK (id = 1), due INTEGER NOT NULL, user TEXT, holder TEXT)`;
const upsert = `INSERT INTO sweep VALUES (1, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
  due = excluded.due, user = excluded.user, holder = excluded.holder`;
const slice = `SELECT user, holder FROM holder WHERE (user, holder) > (?, ?) ORDER BY user, holder LIMIT ?`;
