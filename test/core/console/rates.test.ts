import { describe, expect, it } from "vitest";
import type { Metrics } from "../../../workers/page/answers.ts";
import { labelsOf, pointBetween, quantileMs, stateBefore } from "../../../workers/page/rates.ts";

function state(at_ms: number, counters: Metrics["counters"], more: Partial<Metrics> = {}): Metrics {
  return {
    at_ms,
    counters,
    gauges: {},
    histograms: {},
    buckets: { requests: [0.01, 0.1] },
    ...more,
  };
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
    expect(stateBefore(states, 10_000)?.at_ms).toBe(2_000);
    expect(stateBefore(states, 8_500)?.at_ms).toBe(2_000);
    expect(stateBefore(states, 8_000)?.at_ms).toBe(4_000);
    expect(stateBefore(states.slice(0, 2), 10_000)?.at_ms).toBe(0);
    expect(stateBefore(states.slice(0, 1), 10_000)).toBeUndefined();
    expect(stateBefore([], 10_000)).toBeUndefined();
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
});
