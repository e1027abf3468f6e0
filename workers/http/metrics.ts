/** Metrics at the edge: what it counts itself, and `GET /metrics`, which shows what all have counted. */
import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { CollectedMetrics } from "../../src/contract/metrics-report.ts";
import { collectorName } from "../../src/contract/object-names.ts";
import { limits } from "../../src/limits.ts";
import { Counts } from "../../src/metrics/counts.ts";
import { exposition, formatFor } from "../../src/metrics/exposition.ts";
import { answerInTime } from "../platform/object-call.ts";
import { reportMetrics } from "../platform/metrics-report.ts";
import { type AppEnv, mayReadMetrics } from "./middleware.ts";
import {
  busyRetrySeconds,
  respondBusy,
  respondMetrics,
  respondNotFound,
  respondUnauthorized,
} from "./respond.ts";

/**
 * Counts a request, by its route and never by its path, and a command of the HTTP API by its method. What an isolate has
 * counted is reported after a response, in one report for all requests of `limits.metricsReportMs`.
 */
export const measure: MiddlewareHandler<AppEnv> = async (context, next) => {
  if (!context.var.configured.config.prometheus.counts) return next();
  const beganMs = Date.now();
  await next();
  isolateCounts ??= new Counts();
  count(isolateCounts, context, (Date.now() - beganMs) / 1_000);
  if (isReportDue) return;
  isReportDue = true;
  context.executionCtx.waitUntil(reportLater(isolateCounts, context));
};

function count(counts: Counts, context: Context<AppEnv>, seconds: number): void {
  const { req, res } = context;
  const route = routeOf(context);
  const { status } = res;
  const isKnown = knownMethods.has(req.method);
  const labels = { path: route, method: isKnown ? req.method : "other", status };
  counts.add("centrifugo_node_incoming_http_requests_total", labels);
  const refusal = context.get("refusal");
  if (refusal !== undefined)
    counts.add("dormouse_refusals_total", { refused: route, rule: refusal.rule });
  if (!route.startsWith("/api/")) return;
  const command = { protocol: "http", method: route.slice("/api/".length) };
  counts.observe("centrifugo_api_command_duration_seconds_histogram", seconds, command);
  if (refusal !== undefined) {
    const error = String(refusal.code ?? status);
    counts.add("centrifugo_api_command_errors_total", { ...command, error });
  }
}

const knownMethods: ReadonlySet<string> = new Set(["GET", "POST", "OPTIONS", "HEAD"]);

/** The route that answered, without the patterns of its parameters; "other" for none. */
function routeOf(context: Context<AppEnv>): string {
  const route = routePath(context, -1);
  return route.endsWith("*") ? "other" : route.replaceAll(/\{[^}]*\}+/g, "");
}

/** What this isolate has counted since its last report; made at the first request that is counted. */
let isolateCounts: Counts | undefined;
let isReportDue = false;

async function reportLater(counts: Counts, context: Context<AppEnv>): Promise<void> {
  await scheduler.wait(limits.metricsReportMs);
  isReportDue = false;
  await reportMetrics(context.env.METRICS, { node: "", ...counts.take(), gauges: [] });
}

/** `GET /metrics`: all metrics as text, for whoever has the secret `METRICS_KEY` or a key of the API that admits all. */
export async function showMetrics(context: Context<AppEnv>): Promise<Response> {
  if (!context.var.configured.config.prometheus.enabled) return respondNotFound();
  if (!(await mayReadMetrics(context))) {
    context.set("refusal", { rule: "A7", reason: "the key doesn't match METRICS_KEY or API_KEY" });
    return respondUnauthorized();
  }
  const parts = await collected(context.env.METRICS);
  if (parts === undefined) return respondBusy(busyRetrySeconds());
  const format = formatFor(context.req.header("Accept") ?? "");
  return respondMetrics(exposition(parts, format), format);
}

/** The totals of all objects that collect; undefined if one of them doesn't answer: a sum without it would go down. */
export async function collected(
  collectors: AppEnv["Bindings"]["METRICS"],
): Promise<readonly CollectedMetrics[] | undefined> {
  if (collectors === undefined) return undefined;
  const numbers = Array.from({ length: limits.metricsCollectors }, (_, number) => number);
  return answerInTime("reading metrics", limits.metricsAnswerMs, () =>
    Promise.all(numbers.map((number) => collectors.getByName(collectorName(number)).collected())),
  );
}
