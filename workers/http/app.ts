import { addFeatures, middleware } from "../features/index.ts";
import type { Context, MiddlewareHandler, Handler } from "hono";
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import { isCommandName, operationNames } from "../../src/api/operations.ts";
import { nearestName } from "../../src/config/section.ts";
import { parseCallFailure } from "../platform/object-call.ts";
import {
  authenticate,
  clientScript,
  configure,
  crossOrigin,
  logRefusal,
  onlyMethods,
  onlyUpgrade,
  opened,
  packageFile,
  type Transport,
} from "./middleware.ts";
import type { AppEnv } from "./app-env.ts";
import { enoughDescriptors } from "./descriptor-use.ts";
import { KnownRoutes } from "./known-routes.ts";
import { AddressRate, upgradeRate } from "./client-address.ts";
import { batch, carryOut, legacy, missing, rpc } from "./api.ts";
import { channelEndpoint, type Endpoint, regionEndpoint, withoutChannel } from "./endpoints.ts";
import { emulation } from "./emulation.ts";
import { type StreamKind, stream } from "./stream.ts";
import { poll } from "./poll.ts";
import { missingProMethods } from "../../src/api/methods.ts";
import { jsonBody } from "./body.ts";
import { respondHealthy, respondInternalError, respondNotFound, respondText } from "./responses.ts";
import { webSocket } from "./websocket.ts";

/** Creates the route table of the edge. */
export function createApp(): HonoBase<AppEnv> {
  // Hono's usual class would bring a second router, which refuses these routes, and take this one.
  const app = new HonoBase<AppEnv>({ router: new KnownRoutes(new TrieRouter()) });
  app.use(configure);
  for (const one of middleware) app.use(one);
  app.use(logRefusal);
  app.use(enoughDescriptors);
  const onlyPost = onlyMethods("POST");

  app.use("/api/*", authenticate); // and `/api` itself
  app.all("/api", onlyPost, legacy());
  app.all("/api/batch", onlyPost, jsonBody, batch());
  for (const name of operationNames())
    if (isCommandName(name)) app.all(`/api/${name}`, onlyPost, jsonBody, carryOut(name));
  app.all("/api/rpc", onlyPost, jsonBody, rpc());
  for (const method of missingProMethods) app.all(`/api/${method}`, onlyPost, missing(method));

  const channel = channelEndpoint();
  const withoutToken = new AddressRate(upgradeRate);
  addTransports(app, "/connection", regionEndpoint(), withoutToken);
  addTransports(app, "/channel/:name{[^/]*}", channel, withoutToken);
  const getOnly = onlyMethods("GET");
  app.all("/channel/:name{[^/]*}/poll", crossOrigin, opened("longPoll"), getOnly, poll(channel));
  for (const before of ["", "/channel"])
    app.all(`${before}${ofChannels}`, crossOrigin, withoutChannel);
  app.all("/emulation", crossOrigin, opened("sse", "httpStream"), onlyPost, emulation);
  app.all("/connection/init", crossOrigin, onlyMethods("GET", "POST"), respondHealthy);

  addFeatures(app, withoutToken);
  app.get("/health", respondHealthy);
  app.get("/keepalive-websocket.js", clientScript);
  app.get("/messagepack-centrifuge.js", clientScript);
  app.get("/openapi.json", description("/openapi.json"));
  app.get("/swagger", description("/swagger.html"));
  app.get("/swagger.css", description("/swagger.css"));

  app.notFound(unknownPath);
  app.onError((error) => {
    console.error(`request failed: ${parseCallFailure(error).summary}`);
    return respondInternalError();
  });
  return app;
}

/** Answers a request for a method that the API doesn't have, and suggests the nearest name. The caller has a key. */
function unknownPath({ req }: Context<AppEnv>): Response {
  const [, method] = /^\/api\/(\w{1,64})$/.exec(req.path) ?? [];
  if (method === undefined) return respondNotFound();
  const nearest = nearestName(method, ["batch", ...operationNames()]);
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  return respondText(404, `Not Found: there is no method ${method}${hint}`);
}

/** The end of a channel's own address. */
const ofChannels = "/:transport{(?:(?:uni_)?(?:websocket|sse|http_stream)|poll)}";

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

/**
 * Serves a file of the description of the HTTP API, if `swagger.enabled` is set (rule W8). The files are the same for
 * every deployment, so they need no API key. A page of another origin can neither read nor show them. A request while
 * they are off isn't logged as a refusal, because vulnerability scanners ask for these addresses all the time.
 *
 * @param file in `public`, such as "/swagger.html"
 */
function description(file: string): Handler<AppEnv> {
  return async (context) => {
    const { swagger } = context.get("configured").config;
    if (!swagger.enabled) return respondText(404, "swagger.enabled is not set");
    // Cloudflare redirects a file of HTML to its name without the ending, which this request follows.
    const asset = await packageFile(context, file);
    if (asset === undefined) return respondNotFound();
    // The headers of a fetched response are immutable.
    const response = new Response(asset.body, asset);
    for (const [name, value] of descriptionHeaders) response.headers.set(name, value);
    return response;
  };
}

/** The page loads its style sheet and nothing else, runs no script, and is shown in no frame. */
const descriptionHeaders = [
  [
    "Content-Security-Policy",
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Referrer-Policy", "no-referrer"],
  ["X-Content-Type-Options", "nosniff"],
] as const;
