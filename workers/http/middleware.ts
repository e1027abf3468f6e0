import type { MiddlewareHandler, Context } from "hono";
import type { JsonText } from "../../src/protocol/json/text.ts";
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

/** What handlers find in their context: the bindings, the settings, and the body where {@link jsonBody} read it. */
export interface AppEnv {
  Bindings: Env;
  Variables: { configured: Configured; request: JsonText };
}

/**
 * Comes before everything else: a Worker that lacks a setting answers nothing but what it lacks, so that the operator
 * learns of it at the first request of any kind.
 */
export const configure: MiddlewareHandler<AppEnv> = async (context, next) => {
  const configuration = configurationOf(context.env);
  if (configuration.outcome === "unconfigured") return respondUnconfigured(configuration.problems);
  context.set("configured", configuration);
  return next();
};

/**
 * Lets only a request with the API key pass (docs/protocol.md 6.1). It may stand in any of three places, and one that has it
 * is enough. Comes before everything else that is asked about a request: a stranger learns nothing of the API.
 */
export const authenticate: MiddlewareHandler<AppEnv> = async (context, next) => {
  const expected = await expectedDigest(context.var.configured);
  for (const offered of offeredKeys(context)) {
    // Digests have one length and say nothing of the key, so neither its length nor its beginning shows in the time.
    if (crypto.subtle.timingSafeEqual(await digest(offered), expected)) return next();
  }
  return respondUnauthorized();
};

/** Made once: it is the same for every request. */
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

/** A transport that has a setting. */
export type Transport = keyof TransportsConfig;

/** Answers 404 where the configuration opens none of these transports, and says what would (rule A1). */
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
 * Lets the pages of allowed origins use what browsers reach without a WebSocket, and no others (rule A6, docs/protocol.md 4.4).
 * What is answered says so whatever the answer is: a page could not read the error otherwise.
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

/** GET needs no mention: a page may always ask for it. */
function preflight(context: Context<AppEnv>): Response {
  const requested = context.req.raw.headers.get("Access-Control-Request-Headers") ?? "";
  const headers = new Headers({
    "Access-Control-Allow-Methods": "POST, OPTIONS",
    "Access-Control-Max-Age": "300",
  });
  if (requested !== "") headers.set("Access-Control-Allow-Headers", requested);
  return new Response(null, { status: 204, headers });
}

/** Answers 405 to every method but these. The method is the request's own: the router takes HEAD for GET. */
export function onlyMethods(...allowed: readonly string[]): MiddlewareHandler<AppEnv> {
  return async (context, next) =>
    allowed.includes(context.req.method) ? next() : respondMethodNotAllowed(allowed);
}

/** Answers 426 to everything but the handshake of a WebSocket. The router takes HEAD for GET, so the method is asked here. */
export const onlyUpgrade: MiddlewareHandler<AppEnv> = async (context, next) => {
  const { method } = context.req;
  const upgrade = context.req.header("Upgrade") ?? "";
  return method === "GET" && upgrade.toLowerCase() === "websocket"
    ? next()
    : respondUpgradeRequired();
};

/** `GET /keepalive-websocket.js`: the client's half of client-driven keep-alive, importable from any origin. */
export async function keepaliveScript(context: Context<AppEnv>): Promise<Response> {
  const { ASSETS: assets } = context.env;
  if (assets === undefined) return respondNotFound();
  const asset = await assets.fetch(context.req.raw);
  // The headers of a fetched response can't be changed.
  const response = new Response(asset.body, asset);
  response.headers.set("Access-Control-Allow-Origin", "*");
  return response;
}
