import { describe, expect, it } from "vitest";
import type { Metrics, PastSpan } from "../../../workers/page/answers.ts";
import {
  keptStates,
  labelsOf,
  pastOf,
  type Point,
  pointBetween as pointBetweenStates,
  quantileMs,
  type State,
  stateBefore,
  stateOf,
} from "../../../workers/page/rates.ts";

const requests = [0.01, 0.1];

function state(at_ms: number, counters: Metrics["counters"], more: Partial<Metrics> = {}): State {
  return stateOf({
    at_ms,
    counters,
    gauges: {},
    histograms: {},
    buckets: { requests },
    ...more,
  });
}

function pointBetween(before: State | undefined, now: State): Point {
  return pointBetweenStates(before, now, requests);
}

describe("the points of the plots", () => {
  it("[N4] are rates between two states, and the gauges of the newer one", () => {
    const sent = 'dormouse_deliveries_total{channel_namespace="a"}';
    const before = state(0, { [sent]: 100 });
    const now = state(
      10_000,
      { [sent]: 600, 'dormouse_deliveries_total{channel_namespace="b"}': 500 },
      {
        gauges: { centrifugo_node_num_clients: 7 },
      },
    );
    expect(pointBetween(before, now)).toMatchObject({ deliveries: 100, connections: 7, at: 10 });
    expect(pointBetween(undefined, now)).toMatchObject({ deliveries: null, connections: 7 });
    // Counters that began anew are no negative rate.
    expect(pointBetween(now, state(20_000, {}))).toMatchObject({ deliveries: 0 });
  });

  it("[N4] are between states as far apart as reports", () => {
    const states = [0, 2_000, 4_000, 12_000].map((at) => state(at, {}));
    expect(stateBefore(states, 10_000)?.atMs).toBe(2_000);
    expect(stateBefore(states, 8_500)?.atMs).toBe(2_000);
    expect(stateBefore(states, 8_000)?.atMs).toBe(4_000);
    expect(stateBefore(states.slice(0, 2), 10_000)?.atMs).toBe(0);
    expect(stateBefore(states.slice(0, 1), 10_000)).toBeUndefined();
    expect(stateBefore([], 10_000)).toBeUndefined();
  });

  it("[N4] have no peak if the page asks more often than objects report", () => {
    // A report of 100 in 10 seconds. The operator goes from page to page.
    const times = [0, 5, 10, 15, 16, 17, 18, 19, 20, 21, 22, 27, 32];
    let states: readonly State[] = [];
    const rates = times.map((at) => {
      const now = state(at * 1_000, deliveries(100 * Math.floor((at + 1) / 10)));
      states = [...keptStates(states, 10_000, now.atMs), now];
      return pointBetween(stateBefore(states, 10_000), now).deliveries;
    });
    expect(states.length).toBeLessThan(6);
    // Two reports are in 14 seconds, and never two in less than ten.
    for (const rate of rates.slice(3)) expect(rate).toBeLessThan(15);
  });

  it("[N4] have the times of half and of nearly all requests", () => {
    expect(quantileMs([0, 0, 0], [0.01, 0.1], 0.5)).toBeNull();
    expect(quantileMs([10, 0, 0], [0.01, 0.1], 0.5)).toBeCloseTo(5);
    expect(quantileMs([5, 5, 0], [0.01, 0.1], 0.99)).toBeCloseTo(98.2);
    expect(quantileMs([0, 0, 3], [0.01, 0.1], 0.5)).toBe(100);
  });

  it("[N4] have no times before there are two states", () => {
    const series = 'centrifugo_api_command_duration_seconds_histogram{method="publish"}';
    const answered = (all: number) => ({ histograms: { [series]: { sum: 1, counts: [all, 0] } } });
    const first = state(0, {}, answered(5));
    expect(pointBetween(undefined, first).latencyMedianMs).toBeNull();
    expect(pointBetween(first, state(10_000, {}, answered(5))).latencyMedianMs).toBeNull();
    expect(pointBetween(first, state(10_000, {}, answered(6))).latencyMedianMs).toBeCloseTo(5);
  });

  it("[N4] know series by their labels", () => {
    const series = String.raw`refusals{refused="api \"x\"",rule="A1"}`;
    expect(labelsOf(series)).toEqual({ refused: 'api "x"', rule: "A1" });
  });

  it("[J10] begin with those of the past hour, by rates and with the gauges of each time", () => {
    const now = state(250_000, deliveries(1_000), { gauges: { centrifugo_node_num_clients: 9 } });
    const past = [
      span(0, 120, { deliveries: 240, clients: 3, answers: [4, 0, 0] }),
      span(120, 240, { deliveries: 0, clients: 4 }),
      span(240, 250, { deliveries: 60, clients: 9 }),
    ];
    const { points, before } = pastOf(now, past, requests);
    expect(points).toMatchObject([
      { at: 120, deliveries: 2, connections: 3, latencyMedianMs: 5 },
      { at: 240, deliveries: 0, connections: 4, latencyMedianMs: null },
    ]);
    expect(before?.atMs).toBe(120_000);
    expect(pastOf(now, [], requests)).toEqual({ points: [] });
  });

  it("[J10] have no peak where the past meets what the page sees itself", () => {
    // 12 deliveries a second, in a report each 10 seconds. When the page is opened, an interval has had two in 11 seconds.
    const past = [
      span(0, 120, { deliveries: 1_440 }),
      span(120, 240, { deliveries: 1_440 }),
      span(240, 251, { deliveries: 240 }),
    ];
    const reported = [251, 256, 261, 266, 271].map((at, index) =>
      state(at * 1_000, deliveries(3_120 + 120 * Math.floor(index / 2))),
    );
    const [opened] = reported;
    const { before } = pastOf(opened ?? state(0, {}), past, requests);
    let states = before === undefined ? [] : [before];
    const rates = reported.map((now) => {
      states = [...states, now];
      return pointBetween(stateBefore(states, 10_000), now).deliveries ?? 0;
    });
    for (const rate of rates) expect(Math.abs(rate - 12)).toBeLessThan(1.1);
  });

  it("[J10] have the first rates at once if the counts have just begun", () => {
    const now = state(30_000, deliveries(100));
    const { points, before } = pastOf(now, [span(10, 30, { deliveries: 100 })], requests);
    expect(points).toEqual([]);
    expect(pointBetween(before, now).deliveries).toBe(5);
  });
});

function deliveries(count: number): Metrics["counters"] {
  return { 'dormouse_deliveries_total{channel_namespace="a"}': count };
}

function span(from: number, to: number, more: Partial<PastSpan>): PastSpan {
  return {
    from_ms: from * 1_000,
    to_ms: to * 1_000,
    publications: 0,
    deliveries: 0,
    requests: 0,
    refusals: 0,
    answers: [],
    clients: 0,
    subscriptions: 0,
    channels: 0,
    ...more,
  };
}
