import type { Context, MiddlewareHandler } from "hono";
import { originAllowed } from "../../src/access/origin.ts";
import type { Served } from "./middleware.ts";
import { respondText } from "./respond.ts";

/**
 * Lets the pages of allowed origins use what browsers reach without a WebSocket, and no others (rule A6, reference 4.4).
 * What is answered says so whatever the answer is: a page could not read the error otherwise.
 */
export const crossOrigin: MiddlewareHandler<Served> = async (context, next) => {
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
function preflight(context: Context<Served>): Response {
  const requested = context.req.raw.headers.get("Access-Control-Request-Headers") ?? "";
  const headers = new Headers({
    "Access-Control-Allow-Methods": "POST, OPTIONS",
    "Access-Control-Max-Age": "300",
  });
  if (requested !== "") headers.set("Access-Control-Allow-Headers", requested);
  return new Response(null, { status: 204, headers });
}
