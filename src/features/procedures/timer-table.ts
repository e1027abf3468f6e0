import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import { dueMoment } from "../../moment.ts";
import { columnText, type Sql } from "../../sql.ts";
import { procedureLimits } from "./limits.ts";

/** A timer of a channel, which calls a procedure. */
export interface ProcedureTimer {
  /** When it calls, ms since 1970. */
  readonly atMs: number;
  readonly procedure: string;
  /** The arguments; absent without any. */
  readonly args?: JsonText;
  /** When it was set, ms since 1970: after the clock was set back, this tells how far ahead it was. */
  readonly setMs: number;
  /** How often its procedure has thrown. */
  readonly tries: number;
}

/** New timers, by their names; undefined for one that is removed. */
export type TimerChanges = ReadonlyMap<string, ProcedureTimer | undefined>;

/** The timers of a channel (rule PC7): a row for each, and all of them in the memory of an awake object. */
export class TimerTable {
  readonly #sql: Sql;
  #exists: boolean;
  /** Undefined until it is needed, and after a change failed. */
  #timers: Map<string, ProcedureTimer> | undefined;

  /** @param exists whether the table does; it is made when there is something to store */
  constructor(sql: Sql, exists: boolean) {
    this.#sql = sql;
    this.#exists = exists;
  }

  get all(): ReadonlyMap<string, ProcedureTimer> {
    return this.#all;
  }

  get #all(): Map<string, ProcedureTimer> {
    this.#timers ??= this.#read();
    return this.#timers;
  }

  /** When the next timer calls, ms since 1970; Infinity without any. A time that lies too far ahead is now (rule S5). */
  dueAtMs(nowMs: number): number {
    if (!this.#exists) return Number.POSITIVE_INFINITY;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const timer of this.#all.values()) dueMs = Math.min(dueMs, dueOf(timer, nowMs));
    return dueMs;
  }

  /** The timers that are due, in the order of their times. */
  due(nowMs: number): readonly (readonly [name: string, timer: ProcedureTimer])[] {
    if (this.dueAtMs(nowMs) > nowMs) return [];
    return [...this.#all]
      .filter(([, timer]) => dueOf(timer, nowMs) <= nowMs)
      .sort(
        ([name, one], [otherName, other]) => one.atMs - other.atMs || (name < otherName ? -1 : 1),
      );
  }

  /** Makes the changes: a row written for each. */
  write(changes: TimerChanges, nowMs: number): void {
    const timers = this.#all;
    this.#timers = undefined;
    for (const [name, timer] of changes) {
      if (timer === undefined) {
        if (timers.delete(name)) this.#sql.run("DELETE FROM procedure_timer WHERE name = ?", name);
        continue;
      }
      const { atMs, procedure, args, setMs, tries } = timer;
      if (!this.#exists) this.#sql.run(createTable);
      this.#exists = true;
      this.#sql.run(upsert, name, nowMs, atMs, procedure, args ?? null, setMs, tries);
      timers.set(name, timer);
    }
    this.#timers = timers;
  }

  /** Forgets what was known of the table: the storage was deleted. */
  dropped(): void {
    this.#exists = false;
    this.#timers = undefined;
  }

  #read(): Map<string, ProcedureTimer> {
    if (!this.#exists) return new Map();
    const rows = this.#sql.rows(
      "SELECT name, at, procedure, args, set_at, tries FROM procedure_timer ORDER BY name",
    );
    return new Map(
      rows.map((row) => {
        const { args } = row;
        const timer: ProcedureTimer = {
          atMs: Number(row["at"]),
          procedure: columnText(row, "procedure"),
          ...(typeof args === "string" && { args: trustedJsonText(args) }),
          setMs: Number(row["set_at"]),
          tries: Number(row["tries"]),
        };
        return [columnText(row, "name"), timer];
      }),
    );
  }
}

/** The timer after its procedure has thrown; undefined after the last try. */
export function afterFailure(timer: ProcedureTimer, nowMs: number): ProcedureTimer | undefined {
  const { timerPauseMsMin, timerPauseMsMax, timerTriesMax } = procedureLimits;
  const tries = timer.tries + 1;
  if (tries >= timerTriesMax) return undefined;
  const pauseMs = Math.min(timerPauseMsMax, timerPauseMsMin * 2 ** (tries - 1));
  return { ...timer, tries, setMs: nowMs, atMs: nowMs + pauseMs };
}

function dueOf({ atMs, setMs }: ProcedureTimer, nowMs: number): number {
  return dueMoment(atMs, Math.max(0, atMs - setMs), nowMs);
}

const createTable = `CREATE TABLE procedure_timer (name TEXT PRIMARY KEY, time INTEGER NOT NULL, at INTEGER NOT NULL,
  procedure TEXT NOT NULL, args TEXT, set_at INTEGER NOT NULL, tries INTEGER NOT NULL) WITHOUT ROWID`;
const upsert = `INSERT INTO procedure_timer VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
  time = excluded.time, at = excluded.at, procedure = excluded.procedure, args = excluded.args,
  set_at = excluded.set_at, tries = excluded.tries`;
