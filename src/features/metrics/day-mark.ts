import type { CounterMark } from "./metrics-report.ts";
import { metricsLimits } from "./limits.ts";
import { columnText, hasTable, type Sql } from "../../sql.ts";

/**
 * How the counters of one collecting object were when the day began, in UTC, so that the console can say what was counted
 * today (rule J9). The mark is one row, which is written with the first report of a day.
 */
export class DayMark {
  readonly #sql: Sql;
  #mark: StoredMark | undefined;
  #hasTable: boolean;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#hasTable = hasTable(sql, "metric_day");
    this.#mark = this.#hasTable ? this.#load() : undefined;
  }

  /**
   * To be called before something is added to the counters.
   *
   * @param counters   as they are before that
   * @param reportedMs when something was last reported, ms since 1970; 0 for never
   */
  note(counters: ReadonlyMap<string, number>, reportedMs: number, nowMs: number): void {
    const day = dayOf(nowMs);
    if (this.#mark?.day === day) return;
    const mark = this.today(counters, reportedMs, nowMs);
    this.#store({
      ...mark,
      day,
      atMs: mark.began === true ? countedSince(nowMs, day * dayMs) : mark.atMs,
    });
  }

  /** The counters at the beginning of the day, or as near to that as they are known. */
  today(counters: ReadonlyMap<string, number>, reportedMs: number, nowMs: number): CounterMark {
    const day = dayOf(nowMs);
    if (this.#mark?.day === day) {
      const { day: _, ...mark } = this.#mark;
      return { ...mark, atMs: Math.min(mark.atMs, nowMs) };
    }
    if (reportedMs === 0) return { atMs: nowMs, counters: [], began: true };
    // If the last report is of this day without a mark, the clock was set back, or another release has taken the report.
    return {
      atMs: reportedMs < day * dayMs ? day * dayMs : nowMs,
      counters: [...counters].map(([series, added]) => ({ series, added })),
    };
  }

  #store(mark: StoredMark): void {
    this.#mark = mark;
    if (!this.#hasTable)
      this.#sql.run("CREATE TABLE metric_day (part INTEGER PRIMARY KEY, text TEXT)");
    this.#hasTable = true;
    this.#sql.run("INSERT OR REPLACE INTO metric_day VALUES (0, ?)", JSON.stringify(mark));
  }

  #load(): StoredMark | undefined {
    const row = this.#sql.rows("SELECT text FROM metric_day")[0];
    if (row === undefined) return undefined;
    const mark: StoredMark = JSON.parse(columnText(row, "text"));
    return mark;
  }
}

/**
 * Since when the first report of all has counted: a report has what was counted in the `limits.metricsReportMs` before.
 *
 * @param earliestMs the result isn't before that
 */
export function countedSince(reportedMs: number, earliestMs: number): number {
  return Math.max(reportedMs - metricsLimits.metricsReportMs, earliestMs);
}

interface StoredMark extends CounterMark {
  /** Days since 1970. */
  readonly day: number;
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

const dayMs = 86_400_000;
