import type { MiddlewareHandler } from "hono";
import type { Served } from "./middleware.ts";
import { respondMethodNotAllowed } from "./respond.ts";

/** Answers 405 to every method but these. The method is the request's own: the router takes HEAD for GET. */
export function onlyMethods(...allowed: readonly string[]): MiddlewareHandler<Served> {
  return async (context, next) =>
    allowed.includes(context.req.method) ? next() : respondMethodNotAllowed(allowed);
}
