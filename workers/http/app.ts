import { Hono } from "hono";
import { parseCallFailure } from "../platform/call-failure.ts";
import { authenticate } from "./authenticate.ts";
import { batch } from "./batch.ts";
import { broadcast } from "./broadcast.ts";
import { type Served, configure } from "./configure.ts";
import { connect } from "./connect.ts";
import { keepaliveScript } from "./keepalive-script.ts";
import { legacy } from "./legacy.ts";
import { onlyPost } from "./only-post.ts";
import { onlyUpgrade } from "./only-upgrade.ts";
import { publish } from "./publish.ts";
import { jsonBody } from "./request-body.ts";
import { respondHealthy, respondInternalError, respondNotFound } from "./respond.ts";
import { singleChannel } from "./single-channel.ts";
import { upgrade } from "./upgrade.ts";

/** The edge's route table. */
export function createApp(): Hono<Served> {
  const app = new Hono<Served>();
  app.use(configure);

  app.use("/api/*", authenticate); // and `/api` itself
  app.all("/api", onlyPost, legacy);
  app.all("/api/publish", onlyPost, jsonBody, publish);
  app.all("/api/broadcast", onlyPost, jsonBody, broadcast);
  app.all("/api/batch", onlyPost, jsonBody, batch);
  app.all("/api/history", onlyPost, jsonBody, singleChannel("history"));
  app.all("/api/history_remove", onlyPost, jsonBody, singleChannel("history_remove"));
  app.all("/api/presence", onlyPost, jsonBody, singleChannel("presence"));
  app.all("/api/presence_stats", onlyPost, jsonBody, singleChannel("presence_stats"));

  app.all("/connection/websocket", onlyUpgrade, connect());
  app.all("/channel/:name{[^/]*}/websocket", onlyUpgrade, upgrade());

  app.get("/health", respondHealthy);
  app.get("/keepalive-websocket.js", keepaliveScript);

  app.notFound(respondNotFound);
  app.onError((error) => {
    console.error(`request failed: ${parseCallFailure(error).summary}`);
    return respondInternalError();
  });
  return app;
}
