import type { MiddlewareHandler } from "hono";
import type { Served } from "./middleware.ts";
import { respondUpgradeRequired } from "./respond.ts";

/** Answers 426 to everything but the handshake of a WebSocket. The router takes HEAD for GET, so the method is asked here. */
export const onlyUpgrade: MiddlewareHandler<Served> = async (context, next) => {
  const { method } = context.req;
  const upgrade = context.req.header("Upgrade") ?? "";
  return method === "GET" && upgrade.toLowerCase() === "websocket"
    ? next()
    : respondUpgradeRequired();
};
