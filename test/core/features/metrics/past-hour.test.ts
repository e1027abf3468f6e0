import { describe, expect, it } from "vitest";
import { metricsLimits } from "../../../../src/features/metrics/limits.ts";
import type {
  CollectedMetrics,
  GaugeValue,
} from "../../../../src/features/metrics/metrics-report.ts";
import { type PastSpan, pastSpans } from "../../../../src/features/metrics/past-hour.ts";
import { Totals } from "../../../../src/features/metrics/totals.ts";
import { columnText } from "../../../../src/sql.ts";
import { CountingSql } from "../../../support/counting-sql.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";

const intervalMs = metricsLimits.metricsPlotMs;
/** The beginning of an interval. */
const beganMs = 14_000_000 * intervalMs;
const secondMs = 1_000;
const minuteMs = 60_000;

const clients = (value: number): GaugeValue[] => [{ series: "centrifugo_node_num_clients", value }];

function report(totals: Totals, deliveries: number, atMs: number, gauges: GaugeValue[] = []): void {
  const counters = [
    { series: 'dormouse_deliveries_total{channel_namespace="a"}', added: deliveries },
    { series: "dormouse_deliveries_totals", added: 1_000 },
  ];
  totals.addReport({ node: "a", counters, histograms: [], gauges }, atMs);
}

/** Reports as an object that delivers one a second, until before a time. */
function deliver(totals: Totals, fromMs: number, untilMs: number, gauges: GaugeValue[] = []): void {
  for (let atMs = fromMs; atMs < untilMs; atMs += 10 * secondMs) report(totals, 10, atMs, gauges);
}

function spansOf(totals: readonly Totals[], nowMs: number): readonly PastSpan[] {
  const parts = totals.map((one) => one.collected(nowMs, { past: true }).past);
  return pastSpans(parts, nowMs) ?? [];
}

function deliveriesOf(totals: readonly Totals[], nowMs: number): readonly number[] {
  return spansOf(totals, nowMs).map(({ deliveries }) => deliveries);
}

describe("the past hour of the plots", () => {
  it("[J10] is what was reported in each interval, zero where nothing was, and the gauges at its end", () => {
    const totals = new Totals(new NodeSql());
    deliver(totals, beganMs, beganMs + 2 * intervalMs, clients(3));
    report(totals, 7, beganMs + 5 * intervalMs, clients(4));
    const nowMs = beganMs + 7 * intervalMs + 30 * secondMs;
    const spans = spansOf([totals], nowMs);
    // The first report has what was counted in the ten seconds before.
    const before = { fromMs: beganMs - 10 * secondMs, toMs: beganMs, deliveries: 0, clients: 0 };
    expect(spans[0]).toMatchObject(before);
    expect(spans[1]).toMatchObject({ fromMs: beganMs, toMs: beganMs + intervalMs });
    expect(spans.at(-1)).toMatchObject({ fromMs: beganMs + 7 * intervalMs, toMs: nowMs });
    expect(spans.map(({ deliveries }) => deliveries)).toEqual([0, 120, 120, 0, 0, 0, 7, 0, 0]);
    expect(spans.map((span) => span.clients)).toEqual([0, 3, 3, 3, 3, 3, 4, 4, 4]);
  });

  it("[J10] has all that the plots show, of each series with its labels", () => {
    const totals = new Totals(new NodeSql());
    const times = "centrifugo_api_command_duration_seconds_histogram";
    const counted = [
      'centrifugo_node_messages_sent_count{type="publication",channel_namespace="a"}',
      'centrifugo_node_messages_sent_count{type="publication",channel_namespace="b"}',
      'centrifugo_node_incoming_http_requests_total{path="/a"}',
      'dormouse_refusals_total{rule="A1"}',
    ];
    totals.addReport(
      {
        node: "a",
        counters: counted.map((series) => ({ series, added: 2 })),
        histograms: ["publish", "info"].map((method) => ({
          series: `${times}{protocol="http",method="${method}"}`,
          sum: 1,
          counts: [1, 2],
        })),
        gauges: [
          { series: "centrifugo_node_num_subscriptions", value: 5 },
          { series: "centrifugo_node_num_channels", value: 6 },
        ],
      },
      beganMs,
    );
    expect(spansOf([totals], beganMs + secondMs).at(-1)).toEqual({
      fromMs: beganMs,
      toMs: beganMs + secondMs,
      publications: 4,
      deliveries: 0,
      requests: 2,
      refusals: 2,
      answers: [2, 4],
      clients: 0,
      subscriptions: 5,
      channels: 6,
    });
  });

  it("[J10] adds up several objects, of which one may never have counted, or be a moment ahead", () => {
    const [first, second, idle] = [new NodeSql(), new NodeSql(), new NodeSql()].map(
      (sql) => new Totals(sql),
    );
    if (first === undefined || second === undefined || idle === undefined) throw new Error();
    deliver(first, beganMs, beganMs + 3 * intervalMs, clients(1));
    deliver(second, beganMs + intervalMs, beganMs + 3 * intervalMs + minuteMs, clients(2));
    const nowMs = beganMs + 3 * intervalMs - secondMs;
    const past = { past: true } as const;
    const parts = [
      first.collected(nowMs, past).past,
      // By its own clock.
      second.collected(nowMs + minuteMs, past).past,
      idle.collected(nowMs, past).past,
    ];
    const spans = (pastSpans(parts, nowMs) ?? []).slice(1);
    expect(spans.map((span) => span.deliveries)).toEqual([120, 240, 300]);
    expect(spans.map((span) => span.clients)).toEqual([1, 3, 3]);
  });

  it("[J10] goes back no further than an hour, in a bounded number of points", () => {
    const sql = new NodeSql();
    const totals = new Totals(sql);
    deliver(totals, beganMs, beganMs + 180 * minuteMs, clients(1));
    totals.store();
    const nowMs = beganMs + 180 * minuteMs + secondMs;
    const spans = spansOf([totals], nowMs);
    expect(spans).toHaveLength(31);
    expect(spans.slice(0, -1).every(({ deliveries }) => deliveries === 120)).toBe(true);
    const { past } = totals.collected(nowMs, { past: true });
    expect(past?.points.length).toBeLessThanOrEqual(32);
    // After hours in which nothing was reported, nothing was counted, and the gauges are those of before.
    const laterMs = nowMs + 300 * minuteMs;
    const awake = new Totals(sql);
    const later = spansOf([awake], laterMs);
    expect(later.map(({ deliveries }) => deliveries)).toEqual(Array.from({ length: 31 }, () => 0));
    expect(later.every((span) => span.clients === 1)).toBe(true);
    report(awake, 1, laterMs, clients(5));
    const changed = Array.from({ length: 30 }, () => 1);
    expect(spansOf([awake], laterMs).map((span) => span.clients)).toEqual([...changed, 5]);
  });

  it("[J10] survives a sleep with the totals, and costs no row", () => {
    const sql = new CountingSql(new NodeSql());
    let totals = new Totals(sql);
    for (let interval = 0; interval < 30; interval++) {
      const atMs = beganMs + interval * intervalMs;
      deliver(totals, atMs, atMs + intervalMs, clients(interval));
      const before = spansOf([totals], atMs + intervalMs);
      totals.store();
      totals = new Totals(sql);
      expect(spansOf([totals], atMs + intervalMs)).toEqual(before);
    }
    const written = sql.changes;
    // In the interval of the last report, no mark and no day begin.
    report(totals, 1, beganMs + 30 * intervalMs - secondMs, clients(29));
    totals.store();
    // The totals, with the past, and the gauges.
    expect(sql.changes - written).toBe(2);
    expect(totals.unstored).toBe(false);
    totals.collected(beganMs + 40 * intervalMs, { past: true });
    expect(totals.unstored).toBe(false);
  });

  it("[J10] loses with a crash what the totals lose, and no more", () => {
    const sql = new NodeSql();
    const totals = new Totals(sql);
    deliver(totals, beganMs, beganMs + intervalMs);
    totals.store();
    deliver(totals, beganMs + intervalMs, beganMs + intervalMs + 20 * secondMs);
    const restarted = new Totals(sql);
    report(restarted, 5, beganMs + intervalMs + 30 * secondMs);
    expect(deliveriesOf([restarted], beganMs + 2 * intervalMs)).toEqual([0, 120, 5, 0]);
  });

  it("[J10] tells nothing of the time before an object knows its counts", () => {
    const sql = new NodeSql();
    const older = new Totals(sql);
    deliver(older, beganMs, beganMs + minuteMs, clients(2));
    older.store();
    // As the release before has stored it.
    const [row = {}] = sql.rows("SELECT text FROM metrics WHERE part = 0");
    const { past: _, ...without } = Object(JSON.parse(columnText(row, "text")));
    sql.run("UPDATE metrics SET text = ? WHERE part = 0", JSON.stringify(without));
    const upgraded = new Totals(sql);
    const other = new Totals(new NodeSql());
    deliver(other, beganMs - 20 * minuteMs, beganMs + minuteMs);
    expect(spansOf([upgraded, other], beganMs + minuteMs)).toEqual([]);
    // Since the last report, nothing was counted by this object.
    const idle = spansOf([upgraded], beganMs + 3 * intervalMs);
    expect(idle.map(({ fromMs }) => fromMs - beganMs)).toEqual(
      [1, 2, 3].map((n) => n * intervalMs),
    );
    expect(idle.map((span) => span.clients)).toEqual([2, 2, 2]);
    deliver(upgraded, beganMs + 2 * intervalMs, beganMs + 3 * intervalMs, clients(4));
    expect(deliveriesOf([upgraded, other], beganMs + 3 * intervalMs)).toEqual([0, 120, 0]);
    expect(spansOf([upgraded], beganMs + 3 * intervalMs)[0]?.clients).toBe(2);
  });

  it("[J10] isn't told if an object runs a release that doesn't keep it, or in other intervals", () => {
    const totals = new Totals(new NodeSql());
    report(totals, 1, beganMs);
    const { past }: CollectedMetrics = totals.collected(beganMs, { past: true });
    if (past === undefined) throw new Error("The past was asked for");
    expect(pastSpans([past], beganMs)).toHaveLength(2);
    expect(pastSpans([past, undefined], beganMs)).toBeUndefined();
    expect(pastSpans([past, { ...past, intervalMs: 1 }], beganMs)).toBeUndefined();
    expect(totals.collected(beganMs)).not.toHaveProperty("past");
  });

  it("[J10] [S5] begins anew when the clock is set back, without a peak", () => {
    const sql = new NodeSql();
    const totals = new Totals(sql);
    const setBackMs = beganMs + 10 * minuteMs;
    deliver(totals, beganMs, beganMs + 20 * minuteMs);
    totals.store();
    for (const one of [totals, new Totals(sql)]) {
      expect(spansOf([one], setBackMs)).toEqual([]);
      deliver(one, setBackMs, setBackMs + 10 * minuteMs);
      const spans = spansOf([one], setBackMs + 10 * minuteMs);
      expect(spans.map(({ deliveries }) => deliveries)).toEqual([120, 120, 120, 120, 120, 0]);
      expect(spans[0]?.fromMs).toBe(setBackMs);
    }
  });

  it("[J10] goes on over a clock that is set back by a moment, as from machine to machine", () => {
    const totals = new Totals(new NodeSql());
    deliver(totals, beganMs, beganMs + intervalMs);
    report(totals, 5, beganMs + intervalMs);
    report(totals, 5, beganMs + intervalMs - secondMs);
    expect(deliveriesOf([totals], beganMs + intervalMs - secondMs)).toEqual([0, 130]);
    expect(deliveriesOf([totals], beganMs + 2 * intervalMs)).toEqual([0, 120, 10, 0]);
  });
});
