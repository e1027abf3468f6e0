import { describe, expect, it } from "vitest";
import { encodeConsoleMetrics } from "../../../../src/features/console/metrics-answer.ts";
import { metricsLimits } from "../../../../src/features/metrics/limits.ts";
import { markSums } from "../../../../src/features/metrics/sums.ts";
import { Totals } from "../../../../src/features/metrics/totals.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const midnightMs = Date.UTC(2023, 10, 15);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

function counted(totals: Totals, added: number, atMs: number): void {
  const counters = [{ series: "publications", added }];
  totals.addReport({ node: "a", counters, histograms: [], gauges: [] }, atMs);
}

/** What was counted today, and since when. */
function today(totals: Totals, nowMs: number): { added: number; sinceMs: number | undefined } {
  const { counters, today: mark } = totals.collected(nowMs);
  const added = (counters[0]?.added ?? 0) - (mark?.counters[0]?.added ?? 0);
  return { added, sinceMs: mark?.atMs };
}

describe("the counters of the day's beginning", () => {
  it("[J9] begin anew at midnight in UTC, before the first report of the day, too", () => {
    const totals = new Totals(new NodeSql());
    counted(totals, 5, midnightMs - hourMs);
    counted(totals, 2, midnightMs - minuteMs);
    expect(today(totals, midnightMs - 1).added).toBe(7);
    expect(today(totals, midnightMs)).toEqual({ added: 0, sinceMs: midnightMs });
    counted(totals, 3, midnightMs + hourMs);
    counted(totals, 4, midnightMs + 23 * hourMs);
    expect(today(totals, midnightMs + dayMs - 1)).toEqual({ added: 7, sinceMs: midnightMs });
    expect(today(totals, midnightMs + dayMs)).toEqual({ added: 0, sinceMs: midnightMs + dayMs });
  });

  it("[J9] are kept while the object hibernates, over midnight and within a day", () => {
    const sql = new NodeSql();
    const before = new Totals(sql);
    counted(before, 5, midnightMs - hourMs);
    before.store();
    const awake = new Totals(sql);
    expect(today(awake, midnightMs + hourMs)).toEqual({ added: 0, sinceMs: midnightMs });
    counted(awake, 3, midnightMs + hourMs);
    awake.store();
    const again = new Totals(sql);
    counted(again, 1, midnightMs + 2 * hourMs);
    expect(today(again, midnightMs + 2 * hourMs)).toEqual({ added: 4, sinceMs: midnightMs });
  });

  it("[J9] are those since when they are known, on the day on which they began", () => {
    const totals = new Totals(new NodeSql());
    const beganMs = midnightMs + 7 * hourMs;
    expect(today(totals, beganMs)).toEqual({ added: 0, sinceMs: beganMs });
    counted(totals, 5, beganMs);
    counted(totals, 1, beganMs + minuteMs);
    // A report has what was counted in the ten seconds before.
    const sinceMs = beganMs - metricsLimits.metricsReportMs;
    expect(today(totals, beganMs + hourMs)).toEqual({ added: 6, sinceMs });
    const early = new Totals(new NodeSql());
    counted(early, 1, midnightMs + 1);
    expect(today(early, midnightMs + hourMs)).toEqual({ added: 1, sinceMs: midnightMs });
  });

  it("[J9] are known from now on after the clock was set back to another day", () => {
    const totals = new Totals(new NodeSql());
    counted(totals, 5, midnightMs + hourMs);
    const backMs = midnightMs - 2 * hourMs;
    expect(today(totals, backMs)).toEqual({ added: 0, sinceMs: backMs });
    counted(totals, 1, backMs + minuteMs);
    expect(today(totals, midnightMs - 1)).toEqual({ added: 1, sinceMs: backMs + minuteMs });
    counted(totals, 2, midnightMs + minuteMs);
    expect(today(totals, midnightMs + hourMs)).toEqual({ added: 2, sinceMs: midnightMs });
  });

  it("[J9] cost one row a day, and reading them none", () => {
    const sql = new NodeSql();
    const counting = new CountingSql(sql);
    const totals = new Totals(counting);
    for (let hour = 0; hour < 72; hour++) counted(totals, 1, midnightMs + hour * hourMs);
    expect([...sql.rows("SELECT * FROM metric_day")]).toHaveLength(1);
    totals.store();
    const { changes } = counting;
    // Within ten minutes of the last mark of the hour, so that a change could only be of the day.
    counted(totals, 1, midnightMs + 71 * hourMs + minuteMs);
    totals.collected(midnightMs + 80 * hourMs);
    expect(counting.changes).toBe(changes);
  });

  it("[J9] are added up over all objects, and aren't told if one of an older release collects", () => {
    const [first, second] = [new Totals(new NodeSql()), new Totals(new NodeSql())];
    counted(first, 5, midnightMs - hourMs);
    counted(first, 1, midnightMs + hourMs);
    counted(second, 1, midnightMs + 3 * hourMs);
    const nowMs = midnightMs + 4 * hourMs;
    const parts = [first.collected(nowMs), second.collected(nowMs)];
    expect(markSums(parts.map((part) => part.today))).toEqual({
      atMs: midnightMs,
      counters: new Map([["publications", 5]]),
    });
    expect(JSON.parse(encodeConsoleMetrics(parts, nowMs))).toMatchObject({
      today: { since_ms: midnightMs, counters: { publications: 5 } },
    });
    const { today: _, ...older } = second.collected(nowMs);
    expect(encodeConsoleMetrics([first.collected(nowMs), older], nowMs)).not.toContain('"today"');
  });
});
