import type { MiddlewareHandler } from "hono";
import type { TransportsConfig } from "../../src/config/config.ts";
import type { Served } from "./middleware.ts";
import { respondText } from "./respond.ts";

/** A transport that has a setting. */
export type Transport = keyof TransportsConfig;

/** Answers 404 where the configuration opens none of these transports, and says what would (rule A1). */
export function opened(...transports: readonly Transport[]): MiddlewareHandler<Served> {
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
