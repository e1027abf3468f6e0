/** What the features add to the Worker. The kernel of `workers` imports no other file of a feature. */
export { MetricsObject } from "./metrics/metrics-object.ts";
export { takeMessages } from "./queues/take-messages.ts";
export { askForClaims, claimsOf } from "./hooks/function-answer.ts";
export { parseFunctionAnswer } from "./hooks/function-answer.ts";
import type { MiddlewareHandler } from "hono";
import type { HonoBase } from "hono/hono-base";
import type { AppEnv } from "../http/app-env.ts";
import { jsonBody } from "../http/body.ts";
import { onlyMethods, onlyUpgrade } from "../http/middleware.ts";
import type { AddressRate } from "../http/client-address.ts";
import {
  consoleCall,
  consoleConnect,
  consoleFile,
  consoleLive,
  consoleMetrics,
  consolePage,
  consoleRefusals,
  consoleSettings,
} from "./console/console.ts";
import { consoleUsers } from "./console/connected-users.ts";
import {
  consoleOn,
  loggedIn,
  maySeePage,
  logIn,
  logOut,
  ownOrigin,
  settingsPath,
} from "./console/console-login.ts";
import { events } from "./events/events.ts";
import { addPusher } from "./pusher/app-routes.ts";
import { mountedAt } from "../platform/embedded.ts";
import { respondNotFound } from "../http/responses.ts";
import { measure, showMetrics } from "./metrics/metrics.ts";

/** They see all requests that the Worker is configured for. */
export const middleware: readonly MiddlewareHandler<AppEnv>[] = [measure];

/** Adds the routes of features. @param withoutToken bounds the upgrades without a token of all endpoints together */
export function addFeatures(app: HonoBase<AppEnv>, withoutToken: AddressRate): void {
  app.all("/api/events", onlyMethods("POST"), jsonBody, events);
  app.get("/metrics", showMetrics);
  addConsole(app);
  addPusher(app, withoutToken);
}

/** Adds the operator's console (section N). */
function addConsole(app: HonoBase<AppEnv>): void {
  const [onlyGet, onlyPost] = [onlyMethods("GET"), onlyMethods("POST")];
  const call = [consoleOn, onlyPost, ownOrigin, loggedIn, jsonBody] as const;
  app.get("/", (context) =>
    context.env.DEVELOPMENT === "true"
      ? context.redirect(`${mountedAt()}/console/`)
      : respondNotFound(),
  );
  app.all("/console/login", consoleOn, onlyPost, ownOrigin, logIn());
  app.all("/console/logout", consoleOn, onlyPost, ownOrigin, logOut);
  app.all("/console/connect", consoleOn, onlyUpgrade, ownOrigin, loggedIn, consoleConnect());
  app.all("/console/live", consoleOn, onlyUpgrade, ownOrigin, loggedIn, consoleLive());
  app.all("/console/api/metrics", ...call, consoleMetrics);
  app.all("/console/api/refusals", ...call, consoleRefusals);
  app.all("/console/api/users", ...call, consoleUsers);
  app.all(settingsPath, ...call, consoleSettings);
  app.all("/console/api/:method", ...call, consoleCall);
  const seen = [consoleOn, onlyGet, maySeePage] as const;
  for (const path of ["/console", "/console/"]) app.all(path, ...seen, consolePage);
  app.all("/console/:file", ...seen, consoleFile);
}
