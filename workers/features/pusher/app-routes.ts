import type { Context } from "hono";
import type { HonoBase } from "hono/hono-base";
import type { AppEnv } from "../../http/app-env.ts";
import { onlyUpgrade } from "../../http/middleware.ts";
import { respondNotFound } from "../../http/responses.ts";
import type { AddressRate } from "../../http/client-address.ts";
import { enabledPusher, signed } from "./signed-request.ts";
import { batchEvents, events } from "./events.ts";
import {
  countConnections,
  listChannels,
  listUsers,
  showChannel,
  terminateConnections,
} from "./channels.ts";
import { pusherSocket } from "./socket.ts";

/** Adds the routes of applications that speak the Pusher protocol (src/features/pusher/README.md). */
export function addPusher(app: HonoBase<AppEnv>, withoutToken: AddressRate): void {
  app.get("/app/:key", enabledPusher, onlyUpgrade, pusherSocket(withoutToken));
  app.all("/apps/:app/*", enabledPusher, signed, answer);
}

/** Answers a request of an application's server. One route for all of them costs less when an isolate starts. */
function answer(context: Context<AppEnv>): Promise<Response> | Response {
  const { method } = context.req;
  const [, , , kind = "", encoded = "", last = ""] = context.req.path.split("/");
  const name = readable(encoded);
  switch (`${method} ${kind}${encoded === "" ? "" : "/NAME"}${last === "" ? "" : `/${last}`}`) {
    case "POST events":
      return events(context);
    case "POST batch_events":
      return batchEvents(context);
    case "GET channels":
      return listChannels(context);
    case "GET channels/NAME":
      return showChannel(context, name);
    case "GET channels/NAME/users":
      return listUsers(context, name);
    case "POST users/NAME/terminate_connections":
      return terminateConnections(context, name);
    case "GET connections":
      return countConnections(context);
    default:
      return respondNotFound();
  }
}

/** A part of a path; "" if its escapes are malformed, which no name is. */
function readable(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return "";
  }
}
