import type { MiddlewareHandler } from "hono";
import type { Served } from "./configure.ts";
import { respondMethodNotAllowed } from "./respond.ts";

/** Answers 405 to everything but POST. The method is the request's own: the router takes HEAD for GET. */
export const onlyPost: MiddlewareHandler<Served> = async (context, next) => {
  return context.req.method === "POST" ? next() : respondMethodNotAllowed();
};
