import type { MiddlewareHandler } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { keyMethods } from "../../src/access/api-keys.ts";
import { parseCallFailure } from "../platform/object-call.ts";
import {
  authenticate,
  clientScript,
  configure,
  crossOrigin,
  enoughDescriptors,
  logRefusal,
  onlyMethods,
  onlyUpgrade,
  opened,
  type Transport,
} from "./middleware.ts";
import type { AppEnv } from "./app-env.ts";
import { AddressRate, upgradeRate } from "./client-address.ts";
import { batch, broadcast, legacy, missing, publish, single } from "./api.ts";
import {
  consoleCall,
  consoleFile,
  consoleLive,
  consoleMetrics,
  consolePage,
  consoleRefusals,
  consoleSettings,
} from "./console.ts";
import { consoleOn, loggedIn, logIn, logOut, ownOrigin, settingsPath } from "./console-login.ts";
import { channelEndpoint, type Endpoint, regionEndpoint } from "./endpoints.ts";
import { description } from "./description.ts";
import { emulation } from "./emulation.ts";
import { events } from "./events.ts";
import { type StreamKind, stream } from "./stream.ts";
import { measure, showMetrics } from "./metrics.ts";
import { poll } from "./poll.ts";
import { missingMethods } from "../../src/api/methods.ts";
import { jsonBody } from "./body.ts";
import { respondHealthy, respondInternalError, respondNotFound } from "./respond.ts";
import { webSocket } from "./websocket.ts";

/** Creates the route table of the edge. */
export function createApp(): HonoBase<AppEnv> {
  // Hono's usual class would bring a second router, which refuses these routes, and take this one.
  const app = new HonoBase<AppEnv>({ router: new TrieRouter() });
  app.use(configure);
  app.use(measure);
  app.use(logRefusal);
  app.use(enoughDescriptors);
  const onlyPost = onlyMethods("POST");

  app.use("/api/*", authenticate); // and `/api` itself
  app.all("/api", onlyPost, legacy);
  app.all("/api/publish", onlyPost, jsonBody, publish);
  app.all("/api/broadcast", onlyPost, jsonBody, broadcast);
  app.all("/api/batch", onlyPost, jsonBody, batch);
  app.all("/api/history", onlyPost, jsonBody, single("history"));
  app.all("/api/history_remove", onlyPost, jsonBody, single("history_remove"));
  app.all("/api/presence", onlyPost, jsonBody, single("presence"));
  app.all("/api/presence_stats", onlyPost, jsonBody, single("presence_stats"));
  app.all("/api/disconnect", onlyPost, jsonBody, single("disconnect"));
  app.all("/api/unsubscribe", onlyPost, jsonBody, single("unsubscribe"));
  app.all("/api/subscribe", onlyPost, jsonBody, single("subscribe"));
  app.all("/api/refresh", onlyPost, jsonBody, single("refresh"));
  app.all("/api/block_user", onlyPost, jsonBody, single("block_user"));
  app.all("/api/unblock_user", onlyPost, jsonBody, single("unblock_user"));
  app.all("/api/revoke_token", onlyPost, jsonBody, single("revoke_token"));
  app.all("/api/invalidate_user_tokens", onlyPost, jsonBody, single("invalidate_user_tokens"));
  app.all("/api/connections", onlyPost, jsonBody, single("connections"));
  app.all("/api/info", onlyPost, jsonBody, single("info"));
  app.all("/api/channels", onlyPost, jsonBody, single("channels"));
  app.all("/api/update_user_status", onlyPost, jsonBody, single("update_user_status"));
  app.all("/api/get_user_status", onlyPost, jsonBody, single("get_user_status"));
  app.all("/api/delete_user_status", onlyPost, jsonBody, single("delete_user_status"));
  app.all("/api/events", onlyPost, jsonBody, events);
  app.all("/api/why", onlyPost, jsonBody, single("why"));
  app.all("/api/inspect", onlyPost, jsonBody, single("inspect"));
  for (const method of keyMethods) app.all(`/api/${method}`, onlyPost, jsonBody, single(method));
  for (const method of missingMethods) app.all(`/api/${method}`, onlyPost, missing(method));

  const channel = channelEndpoint();
  const withoutToken = new AddressRate(upgradeRate);
  addTransports(app, "/connection", regionEndpoint(), withoutToken);
  addTransports(app, "/channel/:name{[^/]*}", channel, withoutToken);
  const getOnly = onlyMethods("GET");
  app.all("/channel/:name{[^/]*}/poll", crossOrigin, opened("longPoll"), getOnly, poll(channel));
  app.all("/emulation", crossOrigin, opened("sse", "httpStream"), onlyPost, emulation);
  app.all("/connection/init", crossOrigin, onlyMethods("GET", "POST"), respondHealthy);

  addConsole(app);
  app.get("/health", respondHealthy);
  app.get("/metrics", showMetrics);
  app.get("/keepalive-websocket.js", clientScript);
  app.get("/messagepack-centrifuge.js", clientScript);
  app.get("/openapi.json", description("/openapi.json"));
  app.get("/swagger", description("/swagger.html"));
  app.get("/swagger.css", description("/swagger.css"));

  app.notFound(respondNotFound);
  app.onError((error) => {
    console.error(`request failed: ${parseCallFailure(error).summary}`);
    return respondInternalError();
  });
  return app;
}

/** Adds the operator's console (section N). */
function addConsole(app: HonoBase<AppEnv>): void {
  const [onlyGet, onlyPost] = [onlyMethods("GET"), onlyMethods("POST")];
  const call = [consoleOn, onlyPost, ownOrigin, loggedIn, jsonBody] as const;
  app.all("/console/login", consoleOn, onlyPost, ownOrigin, logIn());
  app.all("/console/logout", consoleOn, onlyPost, ownOrigin, logOut);
  app.all("/console/live", consoleOn, onlyUpgrade, ownOrigin, loggedIn, consoleLive());
  app.all("/console/api/metrics", ...call, consoleMetrics);
  app.all("/console/api/refusals", ...call, consoleRefusals);
  app.all(settingsPath, ...call, consoleSettings);
  app.all("/console/api/:method", ...call, consoleCall);
  app.all("/console", consoleOn, onlyGet, (context) => context.redirect("/console/", 308));
  app.all("/console/", consoleOn, onlyGet, consolePage);
  app.all("/console/:file", consoleOn, onlyGet, consoleFile);
}

/** Adds the transports by which a client reaches one endpoint (docs/protocol.md 4). */
function addTransports(
  app: HonoBase<AppEnv>,
  path: string,
  endpoint: Endpoint,
  withoutToken: AddressRate,
): void {
  const bidirectional = webSocket(endpoint, "bidirectional", withoutToken);
  app.all(`${path}/websocket`, onlyUpgrade, bidirectional);
  app.all(
    `${path}/uni_websocket`,
    opened("uniWebsocket"),
    onlyUpgrade,
    webSocket(endpoint, "unidirectional", withoutToken),
  );
  const onlyPost = onlyMethods("POST");
  const getOrPost = onlyMethods("GET", "POST");
  const add = (
    name: string,
    transport: Transport,
    methods: MiddlewareHandler<AppEnv>,
    kind: StreamKind,
  ) => app.all(`${path}/${name}`, crossOrigin, opened(transport), methods, stream(endpoint, kind));
  add("sse", "sse", getOrPost, { unidirectional: false, events: true });
  add("http_stream", "httpStream", onlyPost, { unidirectional: false, events: false });
  add("uni_sse", "uniSse", getOrPost, { unidirectional: true, events: true });
  add("uni_http_stream", "uniHttpStream", onlyPost, { unidirectional: true, events: false });
}
