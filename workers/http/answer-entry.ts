import type { Context } from "hono";
import type { Entry, Malformed } from "../../src/api/command.ts";
import { callChannel } from "./calls.ts";
import type { Served } from "./middleware.ts";
import { errorModeOf, respondAnswer, respondCall, respondMalformed } from "./respond.ts";

/**
 * Answers a request that is one command for one channel.
 *
 * @param entry  what the request was read as
 * @param method of the request, for the log
 */
export async function answerEntry(
  context: Context<Served>,
  entry: Entry | Malformed,
  method: string,
): Promise<Response> {
  const mode = errorModeOf(context);
  switch (entry.outcome) {
    case "malformed":
      return respondMalformed(entry.detail);
    case "refused":
      return respondAnswer(entry, mode);
    case "call": {
      const { channel, command } = entry;
      return respondCall(await callChannel(context.env.CHANNELS, channel, [command], method), mode);
    }
  }
}
