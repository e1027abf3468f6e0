import type { MetricsReport, NodeGauges, ReportTaken } from "../../src/contract/metrics-report.ts";
import { collectorName, collectorOf } from "../../src/contract/object-names.ts";
import { limits } from "../../src/limits.ts";
import type { Env } from "./env.ts";
import { answerInTime } from "./object-call.ts";

/**
 * Reports what an object or an isolate of the edge has counted, once, and the gauges that it carries for others: these
 * go to the objects that collect them, which may be others.
 *
 * @param carried by the names of the objects that collect them
 * @returns the answer of the collecting object; undefined if there is none, and then it may have taken the report all the
 *          same
 */
export async function reportMetrics(
  collectors: Env["METRICS"],
  report: MetricsReport,
  carried: ReadonlyMap<string, readonly NodeGauges[]>,
): Promise<ReportTaken | undefined> {
  if (collectors === undefined) return undefined;
  const call = (name: string, one: MetricsReport): Promise<ReportTaken | undefined> =>
    answerInTime("report of metrics", limits.objectAnswerMs, async () => {
      const taken = await collectors.getByName(name).report(one);
      return taken ?? {};
    });
  // Isolates of the edge have no names, and report to any object, best to one that gets something anyway.
  const [first = collectorName(Math.floor(Math.random() * limits.metricsCollectors))] =
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
  return taken;
}
