import { describe, expect, it } from "vitest";
import type { MetricsReport } from "../../../../src/features/metrics/metrics-report.ts";
import { metricsLimits } from "../../../../src/features/metrics/limits.ts";
import { Totals } from "../../../../src/features/metrics/totals.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const nowMs = 1_700_000_000_000;

function report(node: string, more: Partial<MetricsReport> = {}): MetricsReport {
  return { node, counters: [], histograms: [], gauges: [], ...more };
}

const clients = (value: number) => [{ series: "centrifugo_node_num_clients", value }];
const publications = (added: number) => [{ series: "publications", added }];

describe("the totals of reports", () => {
  it("add up counters and histograms, and take the gauges of each object as they were last", () => {
    const totals = new Totals(new NodeSql());
    const times = { series: "times", sum: 0.5, counts: [1, 0] };
    totals.addReport(report("a", { counters: publications(2), histograms: [times] }), nowMs);
    totals.addReport(report("a", { gauges: clients(3), histograms: [times] }), nowMs);
    totals.addReport(report("b", { counters: publications(5), gauges: clients(4) }), nowMs);
    totals.addReport(report("a", { gauges: clients(1) }), nowMs);
    expect(totals.collected(nowMs)).toMatchObject({
      counters: publications(7),
      histograms: [{ series: "times", sum: 1, counts: [2, 0] }],
      gauges: clients(5),
    });
  });

  it("[J8] take the gauges of objects that another one carries, and no others of them", () => {
    const totals = new Totals(new NodeSql());
    totals.addReport(report("a", { gauges: clients(3) }), nowMs);
    const carried = [
      { node: "a", gauges: clients(1) },
      { node: "b", gauges: clients(4) },
    ];
    totals.addReport(report("", { counters: publications(2), carried }), nowMs);
    expect(totals.collected(nowMs)).toMatchObject({
      counters: publications(2),
      gauges: clients(5),
    });
    totals.addReport(report("", { carried: [{ node: "b", gauges: [] }] }), nowMs);
    expect(totals.collected(nowMs).gauges).toStrictEqual(clients(1));
  });

  it("forget an object without gauges, and one that has been silent for a day", () => {
    const totals = new Totals(new NodeSql());
    totals.addReport(report("a", { gauges: clients(3) }), nowMs);
    totals.addReport(report("b", { gauges: clients(4) }), nowMs + 1);
    totals.addReport(report("b"), nowMs + 2);
    expect(totals.collected(nowMs + metricsLimits.metricsGaugeMs).gauges).toStrictEqual(clients(3));
    expect(totals.collected(nowMs + metricsLimits.metricsGaugeMs + 1).gauges).toStrictEqual([]);
  });

  it("survive the collecting object's sleep, in a few rows", () => {
    const sql = new CountingSql(new NodeSql());
    const totals = new Totals(sql);
    const times = { series: "times", sum: 0.5, counts: [1, 0] };
    totals.addReport(report("edge", { counters: publications(2), histograms: [times] }), nowMs);
    for (let number = 0; number < 1_200; number++)
      totals.addReport(report(`node ${number}`, { gauges: clients(1) }), nowMs);
    totals.store();
    const before = totals.collected(nowMs);
    const woken = new Totals(sql);
    expect(woken.collected(nowMs)).toStrictEqual(before);
    expect(before.gauges).toStrictEqual(clients(1_200));
    expect(sql.rows("SELECT count(*) AS count FROM metrics")).toMatchObject([{ count: 4 }]);
    expect(woken.unstored).toBe(false);
    woken.addReport(report("node 7", { gauges: clients(9) }), nowMs);
    expect(woken.unstored).toBe(true);
    woken.store();
    expect(new Totals(sql).collected(nowMs).gauges).toStrictEqual(clients(1_208));
  });

  it("[B1] keep a bounded number of series and of objects", () => {
    const totals = new Totals(new NodeSql());
    const many = Array.from({ length: metricsLimits.metricsSeriesMax + 1 }, (_, number) => ({
      series: `series ${number}`,
      added: 1,
    }));
    totals.addReport(report("", { counters: many }), nowMs);
    totals.addReport(report("", { histograms: [{ series: "times", sum: 1, counts: [1] }] }), nowMs);
    expect(totals.collected(nowMs).counters).toHaveLength(metricsLimits.metricsSeriesMax);
    expect(totals.collected(nowMs).histograms).toStrictEqual([]);
    for (let number = 0; number <= metricsLimits.metricsNodesMax; number++)
      totals.addReport(report(`node ${number}`, { gauges: clients(1) }), nowMs);
    expect(totals.collected(nowMs).gauges).toStrictEqual(clients(metricsLimits.metricsNodesMax));
  });

  it("[V1] take a histogram with other buckets, of another release", () => {
    const totals = new Totals(new NodeSql());
    totals.addReport(
      report("a", { histograms: [{ series: "times", sum: 1, counts: [1, 1] }] }),
      nowMs,
    );
    const other = { series: "times", sum: 2, counts: [1, 0, 0] };
    totals.addReport(report("b", { histograms: [other] }), nowMs);
    expect(totals.collected(nowMs).histograms).toStrictEqual([other]);
  });
});
