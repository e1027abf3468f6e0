import type { MetricsReport } from "../../src/contract/metrics-report.ts";
import { collectorName, collectorOf } from "../../src/contract/object-names.ts";
import { limits } from "../../src/limits.ts";
import type { Env } from "./env.ts";
import { answerInTime } from "./object-call.ts";

/**
 * Reports what an object or an isolate of the edge has counted, once.
 *
 * @returns whether the collecting object has taken it; if not, it may have all the same
 */
export async function reportMetrics(
  collectors: Env["METRICS"],
  report: MetricsReport,
): Promise<boolean> {
  if (collectors === undefined) return false;
  // Isolates of the edge have no names.
  const anyCollector = collectorName(Math.floor(Math.random() * limits.metricsCollectors));
  const name = report.node === "" ? anyCollector : collectorOf(report.node);
  const taken = await answerInTime("report of metrics", limits.objectAnswerMs, async () => {
    await collectors.getByName(name).report(report);
    return true;
  });
  return taken === true;
}
