import { columnText, hasTable, type Sql } from "../../../sql.ts";
import { pusherLimits } from "../limits.ts";

/**
 * How many subscriptions a channel has: the sum of the numbers that its gateways have reported, and of the subscribers here
 * (rule PU15). A row for each gateway keeps the number through crashes.
 */
export class SubscriptionCounts {
  readonly #sql: Sql;
  #exists: boolean;
  readonly #counts: Map<string, number>;
  /** The number that was told last, and when, ms since 1970. What a former instance knew, it has told. */
  #told: { readonly count: number; readonly atMs: number };

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#exists = hasTable(sql, "pusher_count");
    const rows = this.#exists ? sql.rows("SELECT gateway, count FROM pusher_count") : [];
    this.#counts = new Map(rows.map((row) => [columnText(row, "gateway"), Number(row["count"])]));
    this.#told = { count: this.#count(0), atMs: 0 };
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** Takes the number of a gateway: a row written, if it has changed. */
  set(gateway: string, count: number): void {
    if ((this.#counts.get(gateway) ?? 0) === count) return;
    if (count === 0) {
      this.#counts.delete(gateway);
      this.#sql.run("DELETE FROM pusher_count WHERE gateway = ?", gateway);
      return;
    }
    if (!this.#exists) this.#sql.run(createTable);
    this.#exists = true;
    this.#counts.set(gateway, count);
    this.#sql.run("INSERT OR REPLACE INTO pusher_count VALUES (?, ?)", gateway, count);
  }

  /** Forgets the gateways that don't follow the channel any more. */
  keepOnly(gateways: readonly string[]): void {
    for (const gateway of this.#counts.keys())
      if (!gateways.includes(gateway)) this.set(gateway, 0);
  }

  /** When the number is to be told, ms since 1970; Infinity if it has been. @param here the subscribers here */
  dueAtMs(here: number, nowMs: number): number {
    const count = this.#count(here);
    if (count === this.#told.count) return Number.POSITIVE_INFINITY;
    if (count <= pusherLimits.countFastMax) return nowMs;
    return Math.min(this.#told.atMs, nowMs) + pusherLimits.countSlowMs;
  }

  /** @returns the number to tell now; undefined if there is none */
  take(here: number, nowMs: number): number | undefined {
    if (this.dueAtMs(here, nowMs) > nowMs) return undefined;
    const count = this.#count(here);
    this.#told = { count, atMs: nowMs };
    return count;
  }

  /** The storage was deleted. */
  deleted(): void {
    this.#exists = false;
  }

  #count(here: number): number {
    let count = here;
    for (const each of this.#counts.values()) count += each;
    return count;
  }
}

const createTable = `CREATE TABLE IF NOT EXISTS pusher_count (gateway TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID`;
