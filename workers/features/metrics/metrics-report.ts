import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import { collectorName, collectorOf } from "../../../src/features/metrics/collectors.ts";
import type { MetricsReport, NodeGauges } from "../../../src/features/metrics/metrics-report.ts";
import { limits } from "../../../src/limits.ts";
import type { Env } from "../../platform/env.ts";
import { answerInTime } from "../../platform/object-call.ts";

/**
 * Reports what an object or an isolate of the edge has counted, once, and the gauges that it carries for others: these
 * go to the objects that collect them, which may be others.
 *
 * @param carried by the names of the objects that collect them
 * @returns whether the collecting object has answered; if not, it may have taken the report all the same
 */
export async function reportMetrics(
  collectors: Env["METRICS"],
  report: MetricsReport,
  carried: ReadonlyMap<string, readonly NodeGauges[]>,
): Promise<boolean> {
  if (collectors === undefined) return false;
  const call = (name: string, one: MetricsReport): Promise<boolean | undefined> =>
    answerInTime("report of metrics", limits.objectAnswerMs, async () => {
      await collectors.getByName(name).report(one);
      return true;
    });
  // Isolates of the edge have no names, and report to any object, best to one that gets something anyway.
  const [first = collectorName(Math.floor(Math.random() * metricsLimits.metricsCollectors))] =
    carried.keys();
  const own = report.node === "" ? first : collectorOf(report.node);
  const others = [...carried].filter(([name]) => name !== own);
  const along = carried.get(own);
  const [taken] = await Promise.all([
    call(own, along === undefined ? report : { ...report, carried: along }),
    ...others.map(([name, nodes]) =>
      call(name, { node: "", counters: [], histograms: [], gauges: [], carried: nodes }),
    ),
  ]);
  return taken === true;
}
