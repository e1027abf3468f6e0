import type { Handler } from "hono";
import type { SingleMethod } from "../../src/api/api-command.ts";
import { parseEntry } from "../../src/api/parse-command.ts";
import { callChannel } from "./call-channels.ts";
import type { Served } from "./configure.ts";
import { errorModeOf, respondAnswer, respondCall, respondMalformed } from "./respond.ts";

/** `POST /api/<method>` for each method that asks one channel something: history, presence and their like. */
export function singleChannel(method: Exclude<SingleMethod, "publish">): Handler<Served> {
  return async (context) => {
    const { config } = context.var.configured;
    const entry = parseEntry(method, context.var.request, config.channel);
    const mode = errorModeOf(context);
    switch (entry.outcome) {
      case "malformed":
        return respondMalformed(entry.detail);
      case "refused":
        return respondAnswer(entry, mode);
      case "call":
        break;
    }
    const { channel, command } = entry;
    return respondCall(await callChannel(context.env.CHANNELS, channel, [command], method), mode);
  };
}
