/**
 * The handlers of the operator's console (section N): the page and its files, the calls that it makes, and its socket. Its
 * calls are those of the HTTP API, with a key that admits everything and is named `console` in the log.
 */
import type { Context, Handler } from "hono";
import { metricsLimits } from "../../../src/features/metrics/limits.ts";
import type { ConnectionClaims } from "../../../src/access/claims.ts";
import { flagField, objectOf, parseShape, refusedUser } from "../../../src/api/shape.ts";
import { isCommandName } from "../../../src/api/operations.ts";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { limits } from "../../../src/limits.ts";
import {
  encodeConsoleMetrics,
  shownCollectedRefusal,
} from "../../../src/features/console/metrics-answer.ts";
import { shownSettings } from "../../../src/features/console/settings.ts";
import { version } from "../../../src/version.ts";
import { carryOut } from "../../http/api.ts";
import { consoleAccess } from "./console-access.ts";
import { loginEnd } from "./console-login.ts";
import { regionEndpoint } from "../../http/endpoints.ts";
import { collected, collectedRefusals } from "../metrics/metrics.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { handoverRequest, placeSocket } from "../../http/placement.ts";
import {
  busyRetrySeconds,
  respondBusy,
  respondMalformed,
  respondNotFound,
  respondPoll,
  respondText,
} from "../../http/responses.ts";

/** `POST /console/api/<method>`, which answers as `/api/<method>` does. */
export const consoleCall: Handler<AppEnv> = (context, next) => {
  const name = context.req.param("method") ?? "";
  if (!isCommandName(name)) return respondNotFound();
  return carryOut(name)(context, next);
};

/**
 * `POST /console/api/metrics`: all that was counted, as `/metrics` shows it, and how it was an hour ago; with `past`, the
 * past hour for the plots, too (rule J10).
 */
export async function consoleMetrics(context: Context<AppEnv>): Promise<Response> {
  const parsed = parseShape(metricsRequest, context.var.request);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const query = parsed.value.past ? ({ past: true } as const) : {};
  const parts = await collected(context.env.METRICS, query);
  if (parts === undefined) return respondBusy(busyRetrySeconds());
  return respondPoll(encodeConsoleMetrics(parts, Date.now()), "no-store");
}

/** Built with each request, which are few, and not when an isolate starts. */
const metricsRequest = () => objectOf({ past: flagField() });

/** `POST /console/api/refusals`: the last refusals of all objects and of the edge (rule Y6). */
export async function consoleRefusals(context: Context<AppEnv>): Promise<Response> {
  const refusals = await collectedRefusals(context.env.METRICS, { count: limits.trailRefusalsMax });
  if (refusals === undefined) return respondBusy(busyRetrySeconds());
  return respondPoll(JSON.stringify({ refusals: refusals.map(shownCollectedRefusal) }), "no-store");
}

/** `POST /console/api/settings`: what the pages need to know of the configuration and of the login. */
export async function consoleSettings(context: Context<AppEnv>): Promise<Response> {
  const { configured } = context.var;
  const body = {
    version,
    login: consoleAccess(configured)?.kind,
    login_ends_at: await loginEnd(context),
    report_ms: metricsLimits.metricsReportMs,
    ...shownSettings(configured.config),
  };
  return respondPoll(JSON.stringify(body), "no-store");
}

/**
 * `GET /console/live?channel=…`: a WebSocket that hears a channel (rule N6). The connection isn't among those that are
 * present. It has no user, or the user `dormouse-console` if the configuration admits no anonymous ones.
 */
export function consoleLive(): Handler<AppEnv> {
  return consoleSocket(({ req, var: { configured } }) => {
    const { channel: channels, client } = configured.config;
    const channel = req.query("channel") ?? "";
    if (resolveChannel(channel, channels).outcome !== "resolved")
      return respondMalformed("there is no such channel");
    const override = { presence: false, joinLeave: false, forcePushJoinLeave: false };
    return {
      user: client.disallowAnonymousConnectionTokens ? "dormouse-console" : "",
      subscriptions: [{ channel, override }],
    };
  });
}

/** `GET /console/connect?user=…`: a WebSocket of that user, as with a token that says nothing else (rule N19). */
export function consoleConnect(): Handler<AppEnv> {
  return consoleSocket(({ req }) => {
    const user = req.query("user") ?? "";
    const refused = user === "" ? { detail: "user is required" } : refusedUser(user);
    if (refused !== undefined) return respondMalformed(refused.detail);
    console.info(JSON.stringify({ console: "connects as", user }));
    return { user, subscriptions: [] };
  });
}

/** Opens a socket whose login is the operator's, and ends with it. */
function consoleSocket(
  claimsOf: (
    context: Context<AppEnv>,
  ) => Pick<ConnectionClaims, "user" | "subscriptions"> | Response,
): Handler<AppEnv> {
  const endpoint = regionEndpoint();
  return async (context) => {
    const given = claimsOf(context);
    if (given instanceof Response) return given;
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const claims = { ...given, expireAtSeconds: (await loginEnd(context)) ?? 0 };
    const handover = handoverRequest(context.req.raw, { v: 1, keepalive: "server", claims });
    return placeSocket(destination.pool, handover, claims);
  };
}

/** The page, which anybody may read, as its script and its styles: they show nothing without a login. */
export async function consolePage(context: Context<AppEnv>): Promise<Response> {
  const script = await fileOf(context, "console.js");
  await script?.body?.cancel();
  if (script?.ok !== true) return respondText(404, notBuilt);
  return new Response(page, {
    headers: { "Content-Type": "text/html; charset=utf-8", ...fileHeaders },
  });
}

/** A file of the page. */
export async function consoleFile(context: Context<AppEnv>): Promise<Response> {
  const name = context.req.param("file") ?? "";
  const type = fileTypes.get(name);
  const asset = type === undefined ? undefined : await fileOf(context, name);
  if (type === undefined || asset === undefined) return respondNotFound();
  if (!asset.ok) return respondText(404, notBuilt);
  return new Response(asset.body, { headers: { "Content-Type": type, ...fileHeaders } });
}

async function fileOf({ env, req }: Context<AppEnv>, name: string): Promise<Response | undefined> {
  return env.ASSETS?.fetch(new Request(new URL(`/console/${name}`, req.url)));
}

const notBuilt = "The console isn't built: run node cli/build/build-console.ts";

const fileTypes: ReadonlyMap<string, string> = new Map([
  ["console.js", "text/javascript; charset=utf-8"],
  ["console.css", "text/css; charset=utf-8"],
  ["icon.svg", "image/svg+xml"],
  ["rules.json", "application/json"],
]);

/** It isn't a file, because the platform gives HTML files other addresses than their names. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Dormouse console</title>
    <link rel="icon" href="/console/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/console/console.css" />
    <script type="module" src="/console/console.js"></script>
  </head>
  <body>
    <div id="console"></div>
    <noscript>The console needs JavaScript.</noscript>
  </body>
</html>
`;

/** Only the console's own script and styles run, nobody frames the page, and no address leaves it (rule N5). */
const fileHeaders = {
  "Cache-Control": "no-cache",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
};
