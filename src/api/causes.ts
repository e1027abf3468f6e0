import type { ChannelConfig } from "../config/config.ts";
import { optionsPlace } from "../config/name-parts.ts";
import type { ChannelOperation } from "../contract/channel-call.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { ApiAnswer, CallOutcome } from "./answers.ts";

/**
 * The outcome of a call to a channel's object, with a detail in each error 108: which option the channel's namespace
 * lacks. The object says only that something isn't available.
 */
export function withCauses(
  outcome: CallOutcome,
  channel: string,
  commands: readonly ChannelOperation[],
  config: ChannelConfig,
): CallOutcome {
  if (outcome.outcome !== "answers" || !outcome.answers.some(lacksCause)) return outcome;
  const place = optionsPlace(channel, config);
  const answers = outcome.answers.map((answer, index) => {
    const what = neededBy(commands[index]);
    return lacksCause(answer) && what !== undefined
      ? { error: errorCodes.notAvailable, detail: `${place}: ${what}` }
      : answer;
  });
  return { outcome: "answers", answers };
}

function lacksCause(answer: ApiAnswer): boolean {
  return "error" in answer && answer.error.code === errorCodes.notAvailable.code;
}

/** The option that is off if an operation isn't available. */
function neededBy(command: ChannelOperation | undefined): string | undefined {
  const method = command?.method;
  if (method === "history" || method === "history_remove")
    return "history is off (history_size and history_ttl)";
  return method === "presence" || method === "presence_stats" ? "presence is off" : undefined;
}
