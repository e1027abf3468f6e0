import { Hono } from "hono";
import { parseCallFailure } from "../platform/call-failure.ts";
import { authenticate } from "./authenticate.ts";
import { batch } from "./batch.ts";
import { broadcast } from "./broadcast.ts";
import { type Served, configure } from "./configure.ts";
import { keepaliveScript } from "./keepalive-script.ts";
import { legacy } from "./legacy.ts";
import { publish } from "./publish.ts";
import { jsonBody } from "./request-body.ts";
import {
  respondHealthy,
  respondMethodNotAllowed,
  respondNotFound,
  respondText,
} from "./respond.ts";
import { singleChannel } from "./single-channel.ts";
import { upgrade } from "./upgrade.ts";

/** The edge's route table. */
export function createApp(): Hono<Served> {
  const app = new Hono<Served>();
  app.use(configure);

  app.use("/api/*", authenticate); // and `/api` itself
  app.post("/api/publish", jsonBody, publish);
  app.post("/api/broadcast", jsonBody, broadcast);
  app.post("/api/batch", jsonBody, batch);
  app.post("/api/history", jsonBody, singleChannel("history"));
  app.post("/api/history_remove", jsonBody, singleChannel("history_remove"));
  app.post("/api/presence", jsonBody, singleChannel("presence"));
  app.post("/api/presence_stats", jsonBody, singleChannel("presence_stats"));
  app.post("/api", legacy);
  app.all("/api", respondMethodNotAllowed);
  app.all(
    "/api/:method{publish|broadcast|batch|history|history_remove|presence|presence_stats}",
    respondMethodNotAllowed,
  );

  app.get("/channel/:name{[^/]*}/websocket", upgrade);

  app.get("/health", respondHealthy);
  app.get("/keepalive-websocket.js", keepaliveScript);

  app.notFound(respondNotFound);
  app.onError((error) => {
    console.error(`request failed: ${parseCallFailure(error).summary}`);
    return respondText(500, "Internal Server Error");
  });
  return app;
}
