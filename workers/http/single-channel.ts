import type { Handler } from "hono";
import type { SingleMethod } from "../../src/api/command.ts";
import { parseEntry } from "../../src/api/parse-command.ts";
import { answerEntry } from "./answer-entry.ts";
import type { Served } from "./middleware.ts";

/** `POST /api/<method>` for each method that asks one channel something: history, presence and their like. */
export function singleChannel(method: Exclude<SingleMethod, "publish">): Handler<Served> {
  return (context) => {
    const { request, configured } = context.var;
    return answerEntry(context, parseEntry(method, request, configured.config.channel), method);
  };
}
