import { hasPassed, lastsAsLong } from "../moment.ts";
import type { Invalidation, UserInvalidation } from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { columnText, type Sql } from "../sql.ts";

/**
 * The restrictions of a home's users and tokens: blocked users and revoked tokens (rules U9, U10), and invalidations of a
 * user's tokens (rule U11). Each is a row until it ends. The home creates the tables, and calls nothing here before.
 */
export class Restrictions {
  readonly #sql: Sql;
  /** Whether there may be bars and invalidations at all; undefined until that is asked. Most homes have none. */
  #hasBars: boolean | undefined;
  #hasInvalidations: boolean | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Bars a user or a token, in place of an earlier bar.
   *
   * @param key          of the user or the token
   * @param untilSeconds when that ends, in seconds since 1970; 0 for never
   */
  bar(key: string, untilSeconds: number): void {
    this.#hasBars = true;
    this.#sql.run(bar, key, untilSeconds);
  }

  /** Ends a bar. */
  free(key: string): void {
    this.#sql.run("DELETE FROM blocked WHERE user = ?", key);
  }

  /** Whether a user or a token is barred. */
  isBarred(key: string, nowMs: number): boolean {
    this.#hasBars ??= this.#sql.rows("SELECT 1 FROM blocked LIMIT 1").length > 0;
    if (!this.#hasBars) return false;
    const [row] = this.#sql.rows("SELECT until FROM blocked WHERE user = ?", key);
    if (row === undefined) return false;
    if (!hasPassed(Number(row["until"]), nowMs)) return true;
    this.free(key);
    return false;
  }

  /** Whether there is room for so many more invalidations of a user's tokens. */
  hasRoom(user: string, count: number, nowMs: number): boolean {
    return (
      count === 0 ||
      this.invalidations(user, nowMs).length + count <= limits.invalidationsPerUserMax
    );
  }

  /** Makes tokens of a user invalid. Earlier invalidations that say no more than this one are dropped. */
  invalidate(user: string, invalidation: Invalidation): void {
    const { channel, issuedBeforeSeconds, expireAtSeconds } = invalidation;
    this.#hasInvalidations = true;
    const before = this.#rowsOf(user);
    if (before.some((one) => covers(one, invalidation))) return;
    for (const one of before) if (covers(invalidation, one)) this.#drop(one);
    this.#sql.run(invalidate, user, channel, issuedBeforeSeconds, expireAtSeconds);
  }

  /** What makes tokens of a user invalid. */
  invalidations(user: string, nowMs: number): readonly UserInvalidation[] {
    const lasting: UserInvalidation[] = [];
    for (const one of this.#rowsOf(user)) {
      if (hasPassed(one.expireAtSeconds, nowMs)) this.#drop(one);
      else lasting.push(one);
    }
    return lasting;
  }

  /** Deletes what has ended. It reads all rows. */
  prune(nowMs: number): void {
    for (const table of ["blocked", "invalidation"])
      this.#sql.run(`DELETE FROM ${table} WHERE until <> 0 AND until <= ?`, nowMs / 1_000);
  }

  #rowsOf(user: string): readonly UserInvalidation[] {
    this.#hasInvalidations ??= this.#sql.rows("SELECT 1 FROM invalidation LIMIT 1").length > 0;
    if (!this.#hasInvalidations) return [];
    return this.#sql
      .rows("SELECT channel, before, until FROM invalidation WHERE user = ?", user)
      .map((row) => ({
        user,
        channel: columnText(row, "channel"),
        issuedBeforeSeconds: Number(row["before"]),
        expireAtSeconds: Number(row["until"]),
      }));
  }

  #drop({ user, channel, issuedBeforeSeconds }: UserInvalidation): void {
    this.#sql.run(drop, user, channel, issuedBeforeSeconds);
  }
}

/** Whether one invalidation says at least as much as another one. */
export function covers(one: Invalidation, other: Invalidation): boolean {
  return (
    one.channel === other.channel &&
    one.issuedBeforeSeconds >= other.issuedBeforeSeconds &&
    lastsAsLong(one.expireAtSeconds, other.expireAtSeconds)
  );
}

/** The tables of {@link Restrictions}. Times are in seconds since 1970; an `until` of 0 is never. */
export const restrictionTables = [
  // Until when a user is blocked, or a token is revoked.
  `CREATE TABLE blocked (user TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID`,
  // What makes tokens of users invalid.
  `CREATE TABLE invalidation (user TEXT, channel TEXT, before INTEGER, until INTEGER NOT NULL,
  PRIMARY KEY (user, channel, before)) WITHOUT ROWID`,
] as const;

const bar = `INSERT INTO blocked VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET until = excluded.until`;
const invalidate = `INSERT OR REPLACE INTO invalidation VALUES (?, ?, ?, ?)`;
const drop = `DELETE FROM invalidation WHERE user = ? AND channel = ? AND before = ?`;
