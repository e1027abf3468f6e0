import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import type { MetricsObject } from "../../../workers/features/metrics/metrics-object.ts";

it("[B1] a report's counters are handed on to Analytics Engine, as many as the platform takes", async () => {
  const points: AnalyticsEngineDataPoint[] = [];
  const METRICS_DATASET = {
    writeDataPoint: (point: AnalyticsEngineDataPoint) => points.push(point),
  };
  Object.assign(env, { METRICS_DATASET });
  const counters = Array.from({ length: metricsLimits.metricsPointsMax + 1 }, (_, index) => ({
    series: `dormouse_commands_total{method="m${index}"}`,
    added: index,
  }));
  const collector = env.METRICS.getByName("analytics");
  await runInDurableObject<MetricsObject, object>(collector, (object) =>
    object.report({ node: "", counters, histograms: [], gauges: [] }),
  );
  expect(points).toHaveLength(metricsLimits.metricsPointsMax);
  expect(points.at(-1)).toStrictEqual({
    indexes: ["dormouse_commands_total"],
    blobs: [counters.at(-2)?.series],
    doubles: [metricsLimits.metricsPointsMax - 1],
  });
});
