/**
 * Everything that runs before a handler: the configuration, the API key, the transports that are enabled, origins, and
 * methods. A handler that awaits nothing isn't async: every request passes all of them, and each would cost it a promise more.
 */
import type { MiddlewareHandler, Context, Next } from "hono";
import type { ApiKey } from "../../src/access/api-keys.ts";
import { missingBindings } from "../../src/contract/bindings.ts";
import { type Configured, configurationOf, isDevelopment } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import { placeObjects } from "../platform/placed-env.ts";
import type { AppEnv, RefusedRequest } from "./app-env.ts";
import {
  busyRetrySeconds,
  respondBusy,
  respondUnconfigured,
  respondUnauthorized,
  respondText,
  respondMethodNotAllowed,
  respondUpgradeRequired,
  respondNotFound,
} from "./responses.ts";
import { digest, fixedForm } from "../platform/digest.ts";
import { embeddedHere } from "../platform/embedded.ts";
import { noteRefusal } from "../platform/refusal-log.ts";
import type { Config, TransportsConfig } from "../../src/config/config.ts";
import { pageRefusal } from "../../src/access/origin.ts";

/**
 * Logs a request that was refused (rule A13): with the reason that a handler left in `refusal`, or that the response
 * gives the backend in its header. Other statuses, such as those of scanners that try paths, are no refusals.
 */
export const logRefusal: MiddlewareHandler<AppEnv> = async (context, next) => {
  await next();
  const { res, req } = context;
  const refusal = context.get("refusal") ?? ofResponse(res);
  if (refusal === undefined) return;
  const [, first = "", name = "", last = ""] = req.path.split("/");
  const transport = first === "channel" ? last : name;
  const refused = calledMethod(first, name, last) ?? (transport || first);
  const channel = first === "channel" ? { channel: readable(name) } : {};
  const key = context.get("apiKey");
  const named = key && { key: key.name };
  const noted = { refused, code: res.status, ...named, ...channel, ...refusal };
  context.set("noted", noted);
  noteRefusal(noted, undefined);
  const text = refusalTexts.get(res.status);
  if (text !== undefined && isDevelopment(context.env))
    context.res = respondText(res.status, `${text}: ${refusal.reason}`);
};

/**
 * The statuses whose bodies give the reason to developers only, because any other caller may be a stranger (rule W12).
 */
const refusalTexts: ReadonlyMap<number, string> = new Map([
  [400, "Bad Request"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
]);

/** The method of the API that was called, by a backend or by the console; undefined for other paths. */
function calledMethod(first: string, name: string, last: string): string | undefined {
  if (first === "api") return `api ${name}`.trim();
  if (first !== "console") return undefined;
  return name === "api" ? `api ${last}`.trim() : `console ${name}`.trim();
}

/** The refusal that a response stands for, if no handler has left one. Where an answer is 200, the handler has. */
function ofResponse(response: Response): RefusedRequest | undefined {
  if (response.status === 101 || response.ok) return undefined;
  const detail = response.headers.get("X-Dormouse-Error-Detail");
  if (detail !== null) return { rule: "W4", reason: detail };
  switch (response.status) {
    case 408:
      return {
        rule: "B20",
        reason: "the body hadn't ended in time, or was the oldest of too many",
      };
    case 413:
      return { rule: "B2", reason: "the request, or what its token says, is too large" };
    case 503:
      return {
        rule: "B5",
        reason:
          "no object accepted it: full, overloaded, too fast, too many without a token, or no answer in time",
      };
    default:
      return undefined;
  }
}

function readable(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // Its escapes are malformed.
  }
}

/**
 * Runs before everything else (rule A8). A Worker that lacks a setting or its objects answers every request with its
 * problems, so that the operator learns of them at the first request.
 */
export const configure: MiddlewareHandler<AppEnv> = (context, next) => {
  const configuration = configurationOf(context.env);
  const isConfigured = configuration.outcome === "configured";
  const collects = isConfigured && configuration.config.prometheus.counts;
  const unbound = unboundObjects(context.env, collects);
  if (!isConfigured)
    return Promise.resolve(respondUnconfigured([...unbound, ...configuration.problems]));
  if (unbound.length > 0) return Promise.resolve(respondUnconfigured(unbound));
  context.set("configured", configuration);
  const { config } = configuration;
  if (!config.placement.isPlaced) return next();
  return afterPlacement(context, config, next);
};

/** Lets the request pass to the objects where they are placed, unless that would lose what they keep (rule PL4). */
async function afterPlacement(
  context: Context<AppEnv>,
  config: Config,
  next: Next,
): Promise<Response | void> {
  const found = await placeObjects(context.env, config);
  switch (found.outcome) {
    case "placed":
      context.env = found.env;
      return next();
    case "conflict":
      return respondUnconfigured(found.problems);
    case "unknown":
      return respondBusy(busyRetrySeconds());
  }
}

/** The problems of missing bindings, found once: the runtime passes the same environment object to every request. */
function unboundObjects(env: Env, collectsMetrics: boolean): readonly string[] {
  const known = unboundByEnv.get(env);
  if (known !== undefined) return known;
  const unbound = missingBindings((name) => name in env, collectsMetrics);
  unboundByEnv.set(env, unbound);
  return unbound;
}

const unboundByEnv = new WeakMap<Env, readonly string[]>();

/**
 * Lets only requests with an API key pass (docs/protocol.md 6.1), and leaves the key to the handlers, which check what
 * it admits (rule A14). The key may be in any of three places; the first place with a right one counts. Runs before all
 * other checks, so that an attacker learns nothing about the API.
 */
export const authenticate: MiddlewareHandler<AppEnv> = async (context, next) => {
  const configured = context.get("configured");
  const { insecure, keys } = configured.config.httpApi;
  const offered = offeredKeys(context);
  const key = insecure ? { name: "http_api.insecure" } : await keyAmong(offered, configured);
  if (key !== undefined) {
    context.set("apiKey", key);
    return next();
  }
  const reason =
    keys.length === 0
      ? "the API key doesn't match API_KEY"
      : "the API key matches neither API_KEY nor one of http_api.keys";
  context.set("refusal", { rule: "A7", reason: offered.length > 0 ? reason : noKey(context) });
  return respondUnauthorized();
};

/** Why a request offers no key: the commonest mistake is the scheme of other APIs. */
function noKey({ req }: Context<AppEnv>): string {
  return req.header("Authorization") === undefined
    ? "there is no API key"
    : "Authorization must be `apikey KEY`, or use X-API-Key";
}

/** The first right key among those that a request offers. */
export async function keyAmong(
  offered: readonly string[],
  configured: Configured,
): Promise<ApiKey | undefined> {
  const expected = await expectedKeys(configured);
  let right: ApiKey | undefined;
  for (const one of offered) {
    const sent = fixedForm(one) ?? (await digest(one));
    // Forms and digests have a fixed length and reveal nothing about the key, so the time depends neither on its length
    // nor on its beginning. Each key is compared, so the time doesn't tell either which one it is (rule A7).
    for (const { key, form } of expected) {
      if (form.byteLength !== sent.byteLength) continue;
      if (crypto.subtle.timingSafeEqual(sent, form)) right ??= key;
    }
  }
  return right;
}

interface ExpectedKey {
  readonly key: ApiKey;
  /** Its fixed form or, if it is too long for that, its digest. */
  readonly form: ArrayBuffer | Uint8Array;
}

/** Computed once for each configuration. */
async function expectedKeys(configured: Configured): Promise<readonly ExpectedKey[]> {
  const known = expectedByConfiguration.get(configured);
  if (known !== undefined) return known;
  const made: ExpectedKey[] = [];
  for (const { key, value } of configured.secrets.apiKeys)
    made.push({ key, form: fixedForm(value)?.slice() ?? (await digest(value)) });
  expectedByConfiguration.set(configured, made);
  return made;
}

const expectedByConfiguration = new WeakMap<Configured, readonly ExpectedKey[]>();

/** The keys of the HTTP API that a request offers. */
export function offeredKeys(context: Context<AppEnv>): readonly string[] {
  const [scheme, key] = splitOnce(context.req.header("Authorization") ?? "");
  return [
    context.req.header("X-API-Key") ?? "",
    scheme.toLowerCase() === "apikey" ? key : "",
    context.req.query("api_key") ?? "",
  ].filter((offered) => offered !== "");
}

/** A header's scheme, and what follows it. */
export function splitOnce(header: string): readonly [string, string] {
  const space = header.indexOf(" ");
  return space < 0 ? [header, ""] : [header.slice(0, space), header.slice(space + 1).trim()];
}

/** A transport that the configuration can enable. */
export type Transport = keyof TransportsConfig;

/** Responds 404 unless the configuration enables one of these transports; the response names the settings (rule A1). */
export function opened(...transports: readonly Transport[]): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { config } = context.get("configured");
    if (transports.some((transport) => config.transports[transport])) return next();
    const reason = `${transports.map((one) => settings[one]).join(" or ")} is not set`;
    context.set("refusal", { rule: "A1", reason });
    return respondText(404, reason);
  };
}

const settings: Record<Transport, string> = {
  sse: "sse.enabled",
  httpStream: "http_stream.enabled",
  uniSse: "uni_sse.enabled",
  uniHttpStream: "uni_http_stream.enabled",
  uniWebsocket: "uni_websocket.enabled",
  longPoll: "long_poll.enabled",
};

/**
 * Lets only pages of allowed origins use the endpoints that browsers reach without a WebSocket (rules A6 and T7,
 * docs/protocol.md 4.4). Every response to an allowed page has the headers, because the page couldn't read an error
 * without them.
 */
export const crossOrigin: MiddlewareHandler<AppEnv> = async (context, next) => {
  const origin = context.req.raw.headers.get("Origin");
  const allowed = !refusesPage(context);
  if (!allowed) context.res = respondText(403, "Forbidden");
  else if (context.req.method === "OPTIONS") context.res = preflight(context);
  else await next();
  context.header("Vary", "Origin", { append: true });
  if (origin === null || !allowed) return;
  context.header("Access-Control-Allow-Origin", origin);
  context.header("Access-Control-Allow-Credentials", "true");
};

/** Whether a browser's request may not connect (rule A6); then the log gets the reason. */
export function refusesPage(context: Context<AppEnv>): boolean {
  const { headers } = context.req.raw;
  const page = {
    origin: headers.get("Origin"),
    site: headers.get("Sec-Fetch-Site"),
    mode: headers.get("Sec-Fetch-Mode"),
    accept: headers.get("Accept"),
    // A Worker of one's own has pages beside the routes of its app.
    ...(embeddedHere() !== undefined && { own: new URL(context.req.url).origin }),
  };
  const reason = pageRefusal(page, context.get("configured").config.client.allowedOrigins);
  if (reason === undefined) return false;
  context.set("refusal", { rule: "A6", reason });
  return true;
}

/** Answers a preflight request. GET isn't listed, because it is always allowed. */
function preflight(context: Context<AppEnv>): Response {
  const requested = context.req.raw.headers.get("Access-Control-Request-Headers") ?? "";
  const headers = new Headers({
    "Access-Control-Allow-Methods": "POST, OPTIONS",
    "Access-Control-Max-Age": "300",
  });
  if (requested !== "") headers.set("Access-Control-Allow-Headers", requested);
  return new Response(null, { status: 204, headers });
}

/** Responds 405 to all other methods. The request's own method is checked, because the router treats HEAD as GET. */
export function onlyMethods(...allowed: readonly string[]): MiddlewareHandler<AppEnv> {
  return (context, next) =>
    allowed.includes(context.req.method)
      ? next()
      : Promise.resolve(respondMethodNotAllowed(allowed));
}

/**
 * Responds 426 to everything but a WebSocket handshake. The method is checked too, because the router treats HEAD as
 * GET.
 */
export const onlyUpgrade: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { method } = context.req;
  const upgrade = context.req.header("Upgrade") ?? "";
  return method === "GET" && upgrade.toLowerCase() === "websocket"
    ? next()
    : respondUpgradeRequired();
};

/**
 * `GET /keepalive-websocket.js` and `GET /messagepack-centrifuge.js`: classes for clients, which pages of any origin can
 * import.
 */
export async function clientScript(context: Context<AppEnv>): Promise<Response> {
  const asset = await packageFile(context, context.req.path, context.req.raw);
  if (asset === undefined) return respondNotFound();
  // The headers of a fetched response are immutable.
  const response = new Response(asset.body, asset);
  response.headers.set("Access-Control-Allow-Origin", "*");
  return response;
}

/**
 * A file of `public`, or one that a Worker of one's own has imported.
 *
 * @param path  such as "/swagger.css"
 * @param asked the client's request, whose conditions may be answered without the file; absent: it is needed
 * @returns undefined where the Worker serves no files; a response that isn't ok where this one is missing
 */
export async function packageFile(
  { env, req }: Context<AppEnv>,
  path: string,
  asked: Request | URL = new URL(path, req.url),
): Promise<Response | undefined> {
  const embedded = embeddedHere();
  return embedded === undefined ? env.ASSETS?.fetch(asked) : embedded.file(path);
}
