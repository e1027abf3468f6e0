import type { MetricsReport, ReportTaken } from "../../src/contract/metrics-report.ts";
import { collectorName, collectorOf } from "../../src/contract/object-names.ts";
import { limits } from "../../src/limits.ts";
import type { Env } from "./env.ts";
import { answerInTime } from "./object-call.ts";

/**
 * Reports what an object or an isolate of the edge has counted, once.
 *
 * @returns the answer of the collecting object; undefined if there is none, and then it may have taken the report all the
 *          same
 */
export async function reportMetrics(
  collectors: Env["METRICS"],
  report: MetricsReport,
): Promise<ReportTaken | undefined> {
  if (collectors === undefined) return undefined;
  // Isolates of the edge have no names.
  const anyCollector = collectorName(Math.floor(Math.random() * limits.metricsCollectors));
  const name = report.node === "" ? anyCollector : collectorOf(report.node);
  return answerInTime("report of metrics", limits.objectAnswerMs, async () => {
    const taken = await collectors.getByName(name).report(report);
    return taken ?? {};
  });
}
