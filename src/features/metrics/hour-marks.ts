import type { CounterAddition, CounterMark } from "./metrics-report.ts";
import { countedSince } from "./day-mark.ts";
import { metricsLimits } from "./limits.ts";
import { columnText, hasTable, type Sql } from "../../sql.ts";

/**
 * How the counters of one collecting object were during the last hour, so that the console can say what was counted since
 * (rule J6). A mark is a row, and there is one for `limits.metricsMarkMs` in which something is counted.
 */
export class HourMarks {
  readonly #sql: Sql;
  #marks: readonly Mark[];
  #hasTable: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#hasTable = hasTable(sql, "metric_marks");
    this.#marks = this.#hasTable ? this.#load() : [];
  }

  /**
   * To be called before something is added to the counters.
   *
   * @param counters    as they are before that
   * @param unchangedMs since when they are so, ms since 1970
   */
  note(counters: ReadonlyMap<string, number>, unchangedMs: number, nowMs: number): void {
    this.#forgetFuture(nowMs);
    const newest = this.#marks.at(-1);
    if (newest !== undefined && nowMs - newest.untilMs < metricsLimits.metricsMarkMs) return;
    const mark = {
      fromMs: unchangedMs,
      untilMs: nowMs,
      counters: [...counters].map(([series, added]) => ({ series, added })),
    };
    // One mark that is older than an hour is needed: the newest one.
    const old = this.#marks.findLastIndex(({ untilMs }) => nowMs - untilMs >= hourMs);
    for (const { untilMs } of this.#marks.slice(0, Math.max(old, 0)))
      this.#sql.run("DELETE FROM metric_marks WHERE until_ms = ?", untilMs);
    this.#marks = [...this.#marks.slice(Math.max(old, 0)), mark];
    this.#store(mark);
  }

  /** Forgets the marks that were made before the clock was set back (rule S5). */
  #forgetFuture(nowMs: number): void {
    const untilMs = nowMs + metricsLimits.metricsMarkMs;
    if ((this.#marks.at(-1)?.untilMs ?? 0) <= untilMs) return;
    this.#marks = this.#marks.filter((mark) => mark.untilMs <= untilMs);
    this.#sql.run("DELETE FROM metric_marks WHERE until_ms > ?", untilMs);
  }

  /**
   * The counters an hour ago, or as near to that as they are known.
   *
   * @param reportedMs when something was last reported, ms since 1970; 0 for never
   */
  hourAgo(counters: ReadonlyMap<string, number>, reportedMs: number, nowMs: number): CounterMark {
    if (reportedMs === 0) return { atMs: nowMs, counters: [], began: true };
    const atMs = nowMs - hourMs;
    if (reportedMs <= atMs || this.#marks.length === 0)
      return { atMs, counters: [...counters].map(([series, added]) => ({ series, added })) };
    // Between a mark and the next one's beginning something was counted, so the mark is the nearest known before.
    const found = this.#marks.findLast(({ fromMs }) => fromMs <= atMs) ?? this.#marks[0];
    if (found === undefined) return { atMs, counters: [] };
    if (found.fromMs > atMs && found.counters.length === 0)
      return { atMs: countedSince(found.fromMs, atMs), counters: [], began: true };
    return {
      atMs: Math.min(Math.max(found.fromMs, atMs), found.untilMs),
      counters: found.counters,
    };
  }

  #store({ fromMs, untilMs, counters }: Mark): void {
    if (!this.#hasTable)
      this.#sql.run(
        "CREATE TABLE metric_marks (until_ms INTEGER PRIMARY KEY, from_ms INTEGER, counters TEXT)",
      );
    this.#hasTable = true;
    this.#sql.run(
      "INSERT OR REPLACE INTO metric_marks VALUES (?, ?, ?)",
      untilMs,
      fromMs,
      JSON.stringify(counters),
    );
  }

  #load(): readonly Mark[] {
    const rows = this.#sql.rows("SELECT * FROM metric_marks ORDER BY until_ms");
    return Array.from(rows, (row) => ({
      fromMs: Number(row["from_ms"]),
      untilMs: Number(row["until_ms"]),
      counters: parseCounters(columnText(row, "counters")),
    }));
  }
}

/** The counters were so from one time to another one. */
interface Mark {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly counters: readonly CounterAddition[];
}

function parseCounters(text: string): readonly CounterAddition[] {
  const counters: readonly CounterAddition[] = JSON.parse(text);
  return counters;
}

const hourMs = 3_600_000;
