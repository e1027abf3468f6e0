import type { Context } from "hono";
import { parsePublish } from "../../src/api/parse-publish.ts";
import { callChannel } from "./call-channels.ts";
import type { Served } from "./configure.ts";
import { errorModeOf, respondAnswer, respondCall, respondMalformed } from "./respond.ts";

/** `POST /api/publish`: one publication for one channel. */
export async function publish(context: Context<Served>): Promise<Response> {
  const { config } = context.var.configured;
  const entry = parsePublish(context.var.request, config.channel);
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
  return respondCall(await callChannel(context.env.CHANNELS, channel, [command], "publish"), mode);
}
