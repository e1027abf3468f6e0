/** Metrics at the edge: what it counts itself, and `GET /metrics`, which shows what all have counted. */
import type { Context, MiddlewareHandler, Next } from "hono";
import { routePath } from "hono/route";
import { previousName } from "../../../src/access/secrets.ts";
import { LastRefusals } from "../../../src/access/last-refusals.ts";
import type {
  CollectedMetrics,
  CollectedQuery,
  CollectedRefusal,
  RefusalsQuery,
  MetricsCalls,
  MetricsReport,
  NodeGauges,
} from "../../../src/features/metrics/metrics-report.ts";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import {
  collectorName,
  CarriedGauges,
  collectorOf,
} from "../../../src/features/metrics/collectors.ts";
import { seriesOf } from "../../../src/features/metrics/catalogue.ts";
import { Counts } from "../../../src/features/metrics/counts.ts";
import { exposition, expositionType } from "../../../src/features/metrics/exposition.ts";
import { newestRefusals } from "../../../src/features/metrics/refusal-list.ts";
import { version } from "../../../src/version.ts";
import { answerInTime } from "../../platform/object-call.ts";
import { digest } from "../../platform/digest.ts";
import { keyAmong, offeredKeys, splitOnce } from "../../http/middleware.ts";
import type { AppEnv, CarriedCounts } from "../../http/app-env.ts";
import {
  busyRetrySeconds,
  respondBusy,
  respondText,
  respondUnauthorized,
} from "../../http/responses.ts";
import { limits } from "../../../src/limits.ts";
import type { Env } from "../../platform/env.ts";

/**
 * Counts a request, by its route and never by its path, and a command of the HTTP API by its method. What an isolate has
 * counted is reported after a response, in one report for all requests of `limits.metricsReportMs`.
 */
export const measure: MiddlewareHandler<AppEnv> = (context, next) =>
  context.get("configured").config.prometheus.counts ? measured(context, next) : next();

async function measured(context: Context<AppEnv>, next: Next): Promise<void> {
  context.set("counts", carriedCounts);
  const beganMs = Date.now();
  await next();
  const endedMs = Date.now();
  isolate ??= newIsolate();
  count(isolate.counts, context, (endedMs - beganMs) / 1_000);
  const noted = context.get("noted");
  if (noted !== undefined && !isOperators(context)) isolate.refusals.note(noted, endedMs);
  if (isReportDue) return;
  isReportDue = true;
  context.executionCtx.waitUntil(reportLater(isolate, context));
}

function count(counts: Counts, context: Context<AppEnv>, seconds: number): void {
  const { req, res } = context;
  const route = routeOf(context);
  const { status } = res;
  const isKnown = knownMethods.has(req.method);
  const labels = { path: route, method: isKnown ? req.method : "other", status };
  counts.add("centrifugo_node_incoming_http_requests_total", labels);
  const refusal = context.get("refusal");
  if (refusal !== undefined && !isOperators(context))
    counts.add("dormouse_refusals_total", { refused: route, rule: refusal.rule });
  if (!route.startsWith("/api/")) return;
  const command = { protocol: "http", method: route.slice("/api/".length) };
  counts.observe("centrifugo_api_command_duration_seconds_histogram", seconds, command);
  if (refusal !== undefined) {
    const error = String(refusal.code ?? status);
    counts.add("centrifugo_api_command_errors_total", { ...command, error });
  }
}

/** Whether the page of an operator who is logged in has asked: the pages show no questions of their own (rule N28). */
function isOperators({ req, var: { apiKey } }: Context<AppEnv>): boolean {
  return apiKey !== undefined && req.path.startsWith("/console/");
}

const knownMethods: ReadonlySet<string> = new Set(["GET", "POST", "OPTIONS", "HEAD"]);

/** The route that answered, without the patterns of its parameters; "other" for none. */
function routeOf(context: Context<AppEnv>): string {
  const route = routePath(context, -1);
  return route.endsWith("*") ? "other" : route.replaceAll(/\{[^}]*\}+/g, "");
}

/** The counts and refusals of this isolate since its last report; made at the first request that is counted. */
let isolate: IsolateMetrics | undefined;
let isReportDue = false;

interface IsolateMetrics {
  readonly counts: Counts;
  readonly refusals: LastRefusals;
  readonly carried: CarriedGauges;
}

function newIsolate(): IsolateMetrics {
  return {
    counts: new Counts(),
    refusals: new LastRefusals(metricsLimits.metricsRefusalsMax),
    carried: new CarriedGauges(),
  };
}

/** Carries counts during a request that is going to be counted itself. */
const carriedCounts: CarriedCounts = {
  hasRoom: () => isolate?.carried.hasRoom !== false,
  take(answers) {
    if (answers.outcome !== "answers" || answers.counted === undefined) return;
    const { counted } = answers;
    isolate ??= newIsolate();
    isolate.counts.merge(counted);
    if (counted.gauges !== undefined) isolate.carried.replace(counted.node, counted.gauges);
  },
};

async function reportLater(
  { counts, refusals, carried }: IsolateMetrics,
  context: Context<AppEnv>,
): Promise<void> {
  await scheduler.wait(metricsLimits.metricsReportMs);
  isReportDue = false;
  const refused = refusals.drain();
  const report = { node: "", ...counts.drain(), gauges: [] };
  await reportMetrics(
    context.env.METRICS,
    refused.length > 0 ? { ...report, refusals: refused } : report,
    carried.drain(),
  );
}

/** `GET /metrics`: all metrics as text, for whoever has the secret `METRICS_KEY` or a key of the API that admits all. */
export async function showMetrics(context: Context<AppEnv>): Promise<Response> {
  if (!context.get("configured").config.prometheus.enabled)
    return respondText(404, "prometheus.enabled is not set");
  if (!(await mayReadMetrics(context))) {
    context.set("refusal", { rule: "A7", reason: "the key doesn't match METRICS_KEY or API_KEY" });
    return respondUnauthorized();
  }
  const parts = await collected(context.env.METRICS);
  if (parts === undefined) return respondBusy(busyRetrySeconds());
  const headers = { "Content-Type": expositionType };
  return new Response(exposition([build, ...parts]), { headers });
}

/** Whether a request may read metrics: by a key of the API that admits everything, or by one for metrics alone. */
async function mayReadMetrics(context: Context<AppEnv>): Promise<boolean> {
  const configured = context.get("configured");
  if (configured.config.httpApi.insecure) return true;
  const key = await keyAmong(offeredKeys(context), configured);
  if (key !== undefined) return key.rights === undefined;
  const [scheme, offered] = splitOnce(context.req.header("Authorization") ?? "");
  if (scheme.toLowerCase() !== "bearer" || offered === "") return false;
  const sent = await digest(offered);
  let isRight = false;
  const { given } = configured.secrets;
  for (const value of [given[metricsKey], given[previousName(metricsKey)]])
    if (value !== undefined && crypto.subtle.timingSafeEqual(sent, await digest(value)))
      isRight = true;
  return isRight;
}

/** Admits to metrics alone. */
const metricsKey = "METRICS_KEY";

/** What there is to show also before anything was counted. */
const build: CollectedMetrics = {
  counters: [],
  histograms: [],
  gauges: [{ series: seriesOf("centrifugo_node_build", { version }), value: 1 }],
};

/** The totals of all objects that collect; undefined if one of them doesn't answer: a sum without it would go down. */
export async function collected(
  collectors: AppEnv["Bindings"]["METRICS"],
  query: CollectedQuery = {},
): Promise<readonly CollectedMetrics[] | undefined> {
  return askCollectors(collectors, "reading metrics", (collector) => collector.collected(query));
}

/**
 * The last refusals that were reported, newest first; undefined if one of the objects that collect them doesn't answer.
 */
export async function collectedRefusals(
  collectors: AppEnv["Bindings"]["METRICS"],
  query: RefusalsQuery,
): Promise<readonly CollectedRefusal[] | undefined> {
  const parts = await askCollectors(collectors, "reading refusals", (collector) =>
    collector.refusals(query),
  );
  return parts === undefined ? undefined : newestRefusals(parts, query.count);
}

async function askCollectors<Answer>(
  collectors: AppEnv["Bindings"]["METRICS"],
  what: string,
  ask: (collector: MetricsCalls) => Promise<Answer>,
): Promise<readonly Answer[] | undefined> {
  if (collectors === undefined) return undefined;
  const numbers = Array.from({ length: metricsLimits.metricsCollectors }, (_, number) => number);
  return answerInTime(what, metricsLimits.metricsAnswerMs, () =>
    Promise.all(numbers.map((number) => ask(collectors.getByName(collectorName(number))))),
  );
}

/**
 * Reports what an object or an isolate of the edge has counted, once, and the gauges that it carries for others: these
 * go to the objects that collect them, which may be others.
 *
 * @param carried by the names of the objects that collect them
 * @returns whether the collecting object has answered; if not, it may have taken the report all the same
 */
async function reportMetrics(
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
