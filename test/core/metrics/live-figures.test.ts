import { describe, expect, it } from "vitest";
import type { CollectedMetrics } from "../../../src/contract/metrics-report.ts";
import { limits } from "../../../src/limits.ts";
import { LiveFigures } from "../../../src/metrics/live-figures.ts";

function collected(
  counters: Readonly<Record<string, number>>,
  gauges: Readonly<Record<string, number>> = {},
  requests = 0,
): CollectedMetrics {
  return {
    counters: Object.entries(counters).map(([series, added]) => ({ series, added })),
    gauges: Object.entries(gauges).map(([series, value]) => ({ series, value })),
    histograms: requests === 0 ? [] : [{ series: "times", sum: requests, counts: [requests, 0] }],
  };
}

function figuresOf(...parts: readonly CollectedMetrics[]): LiveFigures {
  const figures = new LiveFigures();
  for (let number = 0; number < limits.metricsCollectors; number++)
    figures.take(number, parts[number] ?? collected({}));
  return figures;
}

function read(text: string | undefined): object {
  return text === undefined ? { nothing: true } : JSON.parse(text);
}

const refusal = (atMs: number) => ({
  object: "edge",
  atMs,
  count: 1,
  refused: "websocket",
  rule: "A6",
  reason: "the origin",
});

describe("what operators' pages are told", () => {
  it("[N7] are the sums of all collecting objects, once all of them are known", () => {
    const figures = new LiveFigures();
    for (let number = 0; number < limits.metricsCollectors; number++) {
      expect(figures.isComplete).toBe(false);
      figures.take(number, collected({ sent: 2 }, { clients: 1 }));
    }
    expect(figures.isComplete).toBe(true);
    expect(read(figures.all(5))).toMatchObject({
      all: { at_ms: 5, counters: { sent: 8 }, gauges: { clients: 4 } },
    });
  });

  it("[N7] are then only the series that have another value, and nothing if none has", () => {
    const figures = figuresOf(collected({ sent: 1, quiet: 1 }, { clients: 2, gone: 1 }, 3));
    figures.changes(1);
    expect(figures.changes(2)).toBeUndefined();
    figures.take(0, collected({ sent: 1, quiet: 1 }, { clients: 2, gone: 1 }, 3));
    expect(figures.changes(3)).toBeUndefined();
    figures.take(0, collected({ sent: 4, quiet: 1 }, { clients: 2 }, 5));
    expect(read(figures.changes(4))).toStrictEqual({
      at_ms: 4,
      changed: {
        counters: { sent: 4 },
        gauges: { gone: 0 },
        histograms: { times: { sum: 5, counts: [5, 0] } },
      },
    });
  });

  it("[N7] have the newest refusals, as many as are bounded, each once", () => {
    const figures = figuresOf();
    figures.changes(1);
    const many = Array.from({ length: limits.liveRefusalsMax }, (_, index) => refusal(index));
    figures.refused(many.toReversed());
    figures.refused([refusal(1_000)]);
    const { refusals } = JSON.parse(figures.changes(2) ?? "{}");
    expect(refusals).toHaveLength(limits.liveRefusalsMax);
    expect(refusals[0]).toMatchObject({ at_ms: 1_000, object: "edge", rule: "A6" });
    expect(figures.changes(3)).toBeUndefined();
  });

  it("[N7] are forgotten when nobody looks", () => {
    const figures = figuresOf(collected({ sent: 1 }));
    figures.refused([refusal(1)]);
    figures.forget();
    expect(figures.isComplete).toBe(false);
    expect(figures.changes(1)).toBeUndefined();
  });
});
