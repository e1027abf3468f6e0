/**
 * Everything that runs before a handler: the configuration, the API key, the transports that are enabled, origins, and
 * methods.
 */
import type { MiddlewareHandler, Context } from "hono";
import type { JsonText } from "../../src/protocol/json/text.ts";
import { missingBindings } from "../../src/contract/bindings.ts";
import { type Configured, configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import {
  respondUnconfigured,
  respondUnauthorized,
  respondText,
  respondMethodNotAllowed,
  respondUpgradeRequired,
  respondNotFound,
} from "./respond.ts";
import type { TransportsConfig } from "../../src/config/config.ts";
import { originAllowed } from "../../src/access/origin.ts";

/**
 * The context of handlers: the bindings, the configuration, and the body if `jsonBody` has read it.
 */
export interface AppEnv {
  Bindings: Env;
  Variables: { configured: Configured; request: JsonText };
}

/**
 * Runs before everything else (rule A8). A Worker that lacks a setting or its objects answers every request with its
 * problems, so that the operator learns of them at the first request.
 */
export const configure: MiddlewareHandler<AppEnv> = async (context, next) => {
  const unbound = unboundObjects(context.env);
  const configuration = configurationOf(context.env);
  if (configuration.outcome === "unconfigured")
    return respondUnconfigured([...unbound, ...configuration.problems]);
  if (unbound.length > 0) return respondUnconfigured(unbound);
  context.set("configured", configuration);
  return next();
};

/** The problems of missing bindings, found once: the runtime passes the same environment object to every request. */
function unboundObjects(env: Env): readonly string[] {
  const known = unboundByEnv.get(env);
  if (known !== undefined) return known;
  const unbound = missingBindings((name) => name in env);
  unboundByEnv.set(env, unbound);
  return unbound;
}

const unboundByEnv = new WeakMap<Env, readonly string[]>();

/**
 * Lets only requests with the API key pass (docs/protocol.md 6.1). The key may be in any of three places, and one that
 * has the right key is enough. Runs before all other checks, so that an attacker learns nothing about the API.
 */
export const authenticate: MiddlewareHandler<AppEnv> = async (context, next) => {
  if (context.var.configured.config.httpApi.insecure) return next();
  const expected = await expectedDigest(context.var.configured);
  for (const offered of offeredKeys(context)) {
    // Digests have a fixed length and reveal nothing about the key, so the time depends neither on its length nor on
    // its beginning (rule A7).
    if (crypto.subtle.timingSafeEqual(await digest(offered), expected)) return next();
  }
  return respondUnauthorized();
};

/** Computed once for each configuration. */
async function expectedDigest(configured: Configured): Promise<ArrayBuffer> {
  const known = expectedDigests.get(configured);
  if (known !== undefined) return known;
  const made = await digest(configured.secrets.apiKey);
  expectedDigests.set(configured, made);
  return made;
}

const expectedDigests = new WeakMap<Configured, ArrayBuffer>();

function offeredKeys(context: Context<AppEnv>): readonly string[] {
  const [scheme, key] = splitOnce(context.req.header("Authorization") ?? "");
  return [
    context.req.header("X-API-Key") ?? "",
    scheme.toLowerCase() === "apikey" ? key : "",
    context.req.query("api_key") ?? "",
  ].filter((offered) => offered !== "");
}

function splitOnce(header: string): readonly [string, string] {
  const space = header.indexOf(" ");
  return space < 0 ? [header, ""] : [header.slice(0, space), header.slice(space + 1).trim()];
}

function digest(key: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
}

/** A transport that the configuration can enable. */
export type Transport = keyof TransportsConfig;

/** Responds 404 unless the configuration enables one of these transports; the response names the settings (rule A1). */
export function opened(...transports: readonly Transport[]): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { config } = context.var.configured;
    if (transports.some((transport) => config.transports[transport])) return next();
    return respondText(404, `${transports.map((one) => settings[one]).join(" or ")} is not set`);
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
  const { allowedOrigins } = context.var.configured.config.client;
  const origin = context.req.raw.headers.get("Origin");
  const allowed = originAllowed(origin, allowedOrigins);
  if (!allowed) context.res = respondText(403, "Forbidden");
  else if (context.req.method === "OPTIONS") context.res = preflight(context);
  else await next();
  context.header("Vary", "Origin", { append: true });
  if (origin === null || !allowed) return;
  context.header("Access-Control-Allow-Origin", origin);
  context.header("Access-Control-Allow-Credentials", "true");
};

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
  return async (context, next) =>
    allowed.includes(context.req.method) ? next() : respondMethodNotAllowed(allowed);
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
  const { ASSETS: assets } = context.env;
  if (assets === undefined) return respondNotFound();
  const asset = await assets.fetch(context.req.raw);
  // The headers of a fetched response are immutable.
  const response = new Response(asset.body, asset);
  response.headers.set("Access-Control-Allow-Origin", "*");
  return response;
}
