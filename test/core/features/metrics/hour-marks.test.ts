import { describe, expect, it } from "vitest";
import { metricsLimits } from "../../../../src/features/metrics/limits.ts";
import { encodeConsoleMetrics } from "../../../../src/features/console/metrics-answer.ts";
import { markSums } from "../../../../src/features/metrics/sums.ts";
import { Totals } from "../../../../src/features/metrics/totals.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const beganMs = 1_700_000_000_000;
const minuteMs = 60_000;

function counted(totals: Totals, added: number, atMs: number): void {
  const counters = [{ series: "publications", added }];
  totals.addReport({ node: "a", counters, histograms: [], gauges: [] }, atMs);
}

function publicationsHourAgo(totals: Totals, nowMs: number): number {
  const { counters = [] } = totals.collected(nowMs).hourAgo ?? {};
  return counters.find(({ series }) => series === "publications")?.added ?? 0;
}

describe("the counters of an hour ago", () => {
  it("[J6] are those of ten minutes around it, as long as something is counted", () => {
    const totals = new Totals(new NodeSql());
    // One a minute, for three hours.
    for (let minute = 0; minute < 180; minute++) counted(totals, 1, beganMs + minute * minuteMs);
    const before = publicationsHourAgo(totals, beganMs + 180 * minuteMs);
    expect(before).toBeGreaterThanOrEqual(110);
    expect(before).toBeLessThanOrEqual(120);
  });

  it("[J6] are the first ones in the first hour, with the time at which they began", () => {
    const totals = new Totals(new NodeSql());
    counted(totals, 5, beganMs);
    counted(totals, 5, beganMs + minuteMs);
    const { hourAgo: mark } = totals.collected(beganMs + 2 * minuteMs);
    // A report has what was counted in the ten seconds before.
    const firstMs = beganMs - metricsLimits.metricsReportMs;
    expect(mark).toEqual({ atMs: firstMs, counters: [], began: true });
  });

  it("[J6] begin with the first object that counted, however late the others did", () => {
    const first = new Totals(new NodeSql());
    const second = new Totals(new NodeSql());
    const idle = new Totals(new NodeSql());
    counted(first, 5, beganMs);
    counted(second, 5, beganMs + 2 * minuteMs);
    const nowMs = beganMs + 3 * minuteMs;
    const parts = [first, second, idle].map((one) => one.collected(nowMs).hourAgo);
    const firstMs = beganMs - metricsLimits.metricsReportMs;
    expect(markSums(parts)).toEqual({ atMs: firstMs, counters: new Map() });
    // After an hour, an object that began to count in it doesn't shorten it.
    const laterMs = beganMs + 62 * minuteMs;
    counted(first, 1, laterMs);
    const later = [first, second, idle].map((one) => one.collected(laterMs).hourAgo);
    expect(markSums(later)?.atMs).toBe(laterMs - 60 * minuteMs);
  });

  it("[J6] don't contain what was counted before a pause of hours, also after a sleep", () => {
    const sql = new NodeSql();
    const totals = new Totals(sql);
    for (let minute = 0; minute < 9; minute++) counted(totals, 1, beganMs + minute * minuteMs);
    totals.store();
    const awake = new Totals(sql);
    const laterMs = beganMs + 300 * minuteMs;
    expect(publicationsHourAgo(awake, laterMs)).toBe(9);
    counted(awake, 1, laterMs);
    expect(publicationsHourAgo(awake, laterMs)).toBe(9);
  });

  it("[J6] cost a row in ten minutes, and those of older hours are deleted", () => {
    const sql = new NodeSql();
    const counting = new CountingSql(sql);
    const totals = new Totals(counting);
    for (let minute = 0; minute < 600; minute++) counted(totals, 1, beganMs + minute * minuteMs);
    const rows = [...sql.rows("SELECT * FROM metric_marks")];
    expect(rows.length).toBeLessThanOrEqual(3_600_000 / metricsLimits.metricsMarkMs + 2);
    expect(rows.length).toBeGreaterThanOrEqual(3_600_000 / metricsLimits.metricsMarkMs);
  });

  it("[J6] aren't told if an object of an older release collects, too", () => {
    const totals = new Totals(new NodeSql());
    counted(totals, 1, beganMs);
    const part = totals.collected(beganMs);
    const { hourAgo: _, ...older } = part;
    expect(markSums([part.hourAgo])).toBeDefined();
    expect(markSums([part.hourAgo, undefined])).toBeUndefined();
    expect(encodeConsoleMetrics([part, older], beganMs)).not.toContain('"hour"');
    expect(encodeConsoleMetrics([part, part], beganMs)).toContain('"publications":2');
  });
});
