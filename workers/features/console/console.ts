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
import { appOf, type PusherApp } from "../../../src/features/pusher/config.ts";
import { shownSettings } from "../../../src/features/console/settings.ts";
import { version } from "../../../src/version.ts";
import { userKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { respondRefused } from "../../http/websocket.ts";
import { answerInTime } from "../../platform/object-call.ts";
import { carryOut } from "../../http/api.ts";
import { consoleAccess } from "./console-access.ts";
import { loginOf } from "./console-login.ts";
import { regionEndpoint } from "../../http/endpoints.ts";
import { collected, collectedRefusals } from "../metrics/metrics.ts";
import { placeOnlooker } from "../pusher/socket.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { packageFile } from "../../http/middleware.ts";
import { embeddedHere, mountedAt } from "../../platform/embedded.ts";
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
    report_ms: metricsLimits.metricsReportMs,
    ...shownSettings(configured.config),
  };
  return respondPoll(JSON.stringify(body), "no-store");
}

/** `GET /console/live?channel=…`: an onlooker without a user, whom the server subscribes to the channel (rule N6). */
export function consoleLive(): Handler<AppEnv> {
  return onlooker(async ({ req, var: { configured } }) => {
    const channel = req.query("channel") ?? "";
    return resolveChannel(channel, configured.config.channel).outcome === "resolved"
      ? { user: "", subscriptions: [{ channel, override: {} }] }
      : respondMalformed("there is no such channel");
  });
}

/**
 * `GET /console/connect?user=…`: an onlooker in the name of a user, as with a token that says nothing else (rule N19). With
 * `app=…` it speaks the Pusher protocol, as a client of the application that has signed the user in, or nobody (rule N32).
 */
export function consoleConnect(): Handler<AppEnv> {
  return onlooker(async (context) => {
    const user = context.req.query("user") ?? "";
    const id = context.req.query("app");
    const app = appOf(context.var.configured.config, id);
    if (id !== undefined && app === undefined)
      return respondMalformed("pusher.apps doesn't have the application");
    const isNobody = user === "" && app !== undefined;
    const refused = user === "" ? { detail: "user is required" } : refusedUser(user);
    if (refused !== undefined && !isNobody) return respondMalformed(refused.detail);
    const isBlocked = isNobody ? false : await isUserBlocked(context, user);
    if (isBlocked === undefined) return respondBusy(busyRetrySeconds());
    if (isBlocked) return respondRefused(context, "json", blocked);
    console.info(JSON.stringify({ console: "looks on as", user, app: app?.id }));
    return app === undefined ? { user } : { user, app };
  });
}

const blocked = { outcome: "disconnect", code: disconnectCodes.permissionDenied } as const;

/** Asks the user's home, in which nothing is registered; undefined if it doesn't answer in time. */
async function isUserBlocked(
  { env, var: { configured } }: Context<AppEnv>,
  user: string,
): Promise<boolean | undefined> {
  if (!configured.config.client.users.enabled) return false;
  const home = env.USERS.getByName(homeName(userKey(user)));
  return answerInTime("question of the console", limits.objectAnswerMs, () => home.isBlocked(user));
}

/** Opens the socket of an onlooker, which ends with the operator's login. */
function onlooker(
  claimsOf: (context: Context<AppEnv>) => Promise<OnlookersClaims | Response>,
): Handler<AppEnv> {
  const endpoint = regionEndpoint();
  return async (context) => {
    const given = await claimsOf(context);
    if (given instanceof Response) return given;
    const destination = endpoint(context);
    if (destination.outcome === "refused") return destination.response;
    const { endsAtSeconds: expireAtSeconds, id: uid } = (await loginOf(context)) ?? noLogin;
    const { app, ...named } = given;
    const claims = { ...named, expireAtSeconds, uid };
    if (app !== undefined) return placeOnlooker(context, app, claims);
    const handover = { v: 1, keepalive: "server", onlooker: claims } as const;
    return placeSocket(destination.pool, handoverRequest(context.req.raw, handover), claims);
  };
}

/** The claims of the user whose view an onlooker has. */
type OnlookersClaims = Pick<ConnectionClaims, "user" | "subscriptions"> & {
  /** The application of which it is a client; absent: it speaks the server's own protocol. */
  readonly app?: PusherApp;
};

/** The login has ended since it was checked. */
const noLogin = { endsAtSeconds: 1, id: "" };

/**
 * The page, which anybody may read, as its script and its styles: they show nothing without a login. A Worker of one's own
 * that knows its operators shows it to nobody else.
 */
export async function consolePage(context: Context<AppEnv>): Promise<Response> {
  const script = await fileOf(context, "console.js");
  if (script?.ok !== true) return missingFile(script);
  await script.body?.cancel();
  const kind = consoleAccess(context.var.configured)?.kind ?? "";
  const html = page.replace("{login}", kind).replaceAll("{at}", `${mountedAt()}/console`);
  return new Response(html, {
    headers: { "Content-Type": "text/html; charset=utf-8", ...fileHeaders },
  });
}

/** A file of the page. */
export async function consoleFile(context: Context<AppEnv>): Promise<Response> {
  const name = context.req.param("file") ?? "";
  const type = fileTypes.get(name);
  const asset = type === undefined ? undefined : await fileOf(context, name);
  if (type === undefined || asset === undefined) return respondNotFound();
  if (!asset.ok) return missingFile(asset);
  return new Response(asset.body, { headers: { "Content-Type": type, ...fileHeaders } });
}

function fileOf(context: Context<AppEnv>, name: string): Promise<Response | undefined> {
  return packageFile(context, `/console/${name}`);
}

/** 404, with what is to be done. A Worker of one's own says it itself. */
function missingFile(found: Response | undefined): Response {
  return found !== undefined && embeddedHere() !== undefined ? found : respondText(404, notBuilt);
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
    <link rel="icon" href="{at}/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="{at}/console.css" />
    <script type="module" src="{at}/console.js"></script>
  </head>
  <body>
    <div id="console" data-login="{login}"></div>
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
