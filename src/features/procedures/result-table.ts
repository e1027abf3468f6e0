import { dueMoment, elapsed } from "../../moment.ts";
import { limits } from "../../limits.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import { columnText, type Sql } from "../../sql.ts";
import { procedureLimits } from "./limits.ts";

/**
 * The results of calls with an idempotency key (rule PC4): a row for each, in a slot that an expired one left. An awake object
 * has the keys in memory once one was asked for.
 */
export class ResultTable {
  readonly #sql: Sql;
  #exists: boolean;
  /** Roughly oldest first. Undefined until it is needed, and after a change failed. */
  #known: Map<string, KnownResult> | undefined;
  /** When the newest result came, ms since 1970; undefined until it is needed. */
  #newest: number | undefined;

  /** @param exists whether the table does; it is made when there is something to store */
  constructor(sql: Sql, exists: boolean) {
    this.#sql = sql;
    this.#exists = exists;
  }

  /** The first result of a call with this key; undefined if the key is new, or "". */
  first(key: string, nowMs: number): JsonText | undefined {
    if (key === "" || !this.#exists) return undefined;
    const known = this.#all.get(key);
    if (known === undefined || !isYoung(known, nowMs)) return undefined;
    const [row] = this.#sql.rows("SELECT result FROM procedure_result WHERE slot = ?", known.slot);
    return trustedJsonText(columnText(row, "result"));
  }

  /** Whether one more result can be remembered. */
  hasRoom(nowMs: number): boolean {
    if (!this.#exists || this.#all.size < procedureLimits.resultsMax) return true;
    const [oldest] = this.#all.values();
    return oldest !== undefined && !isYoung(oldest, nowMs);
  }

  /** Remembers a result: one row written. */
  write(key: string, result: JsonText, nowMs: number): void {
    const all = this.#all;
    this.#known = undefined;
    if (!this.#exists) this.#sql.run(createTable);
    this.#exists = true;
    const slot = all.get(key)?.slot ?? takeSlot(all, nowMs);
    this.#sql.run(upsert, slot, key, nowMs, result);
    all.delete(key);
    all.set(key, { slot, timeMs: nowMs });
    this.#known = all;
    this.#newest = nowMs;
  }

  /** When the last result can be forgotten, ms since 1970; Infinity if none is kept. */
  endsAtMs(nowMs: number): number {
    if (!this.#exists) return Number.POSITIVE_INFINITY;
    return dueMoment(this.#newestMs + limits.idempotencyMs, limits.idempotencyMs, nowMs);
  }

  /** Deletes the results once all of them can be forgotten. */
  forgetExpired(nowMs: number): void {
    if (this.endsAtMs(nowMs) > nowMs) return;
    this.#sql.run("DROP TABLE procedure_result");
    this.dropped();
  }

  get isEmpty(): boolean {
    return !this.#exists;
  }

  /** Forgets what was known of the table: the storage was deleted. */
  dropped(): void {
    this.#exists = false;
    this.#known = undefined;
    this.#newest = undefined;
  }

  get #newestMs(): number {
    this.#newest ??= Math.max(0, ...[...this.#all.values()].map(({ timeMs }) => timeMs));
    return this.#newest;
  }

  get #all(): Map<string, KnownResult> {
    this.#known ??= this.#read();
    return this.#known;
  }

  #read(): Map<string, KnownResult> {
    if (!this.#exists) return new Map();
    return new Map(
      this.#sql.rows("SELECT slot, key, time FROM procedure_result ORDER BY time").map((row) => {
        const known = { slot: Number(row["slot"]), timeMs: Number(row["time"]) };
        return [columnText(row, "key"), known];
      }),
    );
  }
}

/** A remembered result. */
interface KnownResult {
  readonly slot: number;
  readonly timeMs: number;
}

/** The slot of the oldest result if that can be forgotten, or a new one. */
function takeSlot(all: Map<string, KnownResult>, nowMs: number): number {
  const [oldest] = all;
  if (oldest === undefined || isYoung(oldest[1], nowMs)) return all.size;
  all.delete(oldest[0]);
  return oldest[1].slot;
}

/** Whether a result is still remembered. */
function isYoung({ timeMs }: KnownResult, nowMs: number): boolean {
  return !elapsed(timeMs, limits.idempotencyMs, nowMs);
}

const createTable = `CREATE TABLE procedure_result (slot INTEGER PRIMARY KEY, key TEXT NOT NULL, time INTEGER NOT NULL,
  result TEXT NOT NULL)`;
const upsert = `INSERT INTO procedure_result VALUES (?, ?, ?, ?) ON CONFLICT (slot) DO UPDATE SET
  key = excluded.key, time = excluded.time, result = excluded.result`;
