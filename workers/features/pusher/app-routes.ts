import type { HonoBase } from "hono/hono-base";
import type { AppEnv } from "../../http/app-env.ts";
import { enabledPusher, signed } from "./signed-request.ts";
import { batchEvents, events } from "./events.ts";
import { channel, channels, connections, terminate, users } from "./channels.ts";
import { pusherSocket } from "./socket.ts";

/** Adds the routes of applications whose clients and servers speak the Pusher protocol (docs/pusher.md). */
export function addPusher(app: HonoBase<AppEnv>): void {
  app.get("/app/:key", enabledPusher, pusherSocket());
  const of = (path: string) => `/apps/:app${path}`;
  app.post(of("/events"), enabledPusher, signed, events);
  app.post(of("/batch_events"), enabledPusher, signed, batchEvents);
  app.get(of("/channels"), enabledPusher, signed, channels);
  app.get(of("/channels/:name"), enabledPusher, signed, channel);
  app.get(of("/channels/:name/users"), enabledPusher, signed, users);
  app.post(of("/users/:user/terminate_connections"), enabledPusher, signed, terminate);
  app.get(of("/connections"), enabledPusher, signed, connections);
}
