import type { Context } from "hono";
import { parsePublish } from "../../src/api/publish.ts";
import { answerEntry } from "./answer-entry.ts";
import type { Served } from "./middleware.ts";

/** `POST /api/publish`: one publication for one channel. */
export function publish(context: Context<Served>): Promise<Response> {
  const { request, configured } = context.var;
  return answerEntry(context, parsePublish(request, configured.config.channel), "publish");
}
