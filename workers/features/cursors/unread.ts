import type { CallOutcome } from "../../../src/api/answers.ts";
import type { UnreadQuestion } from "../../../src/api/command.ts";
import type { ChannelAnswer, ChannelAnswers } from "../../../src/contract/channel-call.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import type { Env } from "../../platform/env.ts";
import { answerInTime, forEachInTurns } from "../../platform/object-call.ts";

/** Asks the object of each channel how much a user hasn't read, `limits.callsInFlightMax` at a time (rule CU4). */
export async function askUnread(
  { CHANNELS }: Env,
  { user, channels }: UnreadQuestion,
): Promise<CallOutcome> {
  const answers = new Map<string, string>();
  const endsAtMs = Date.now() + limits.requestAnswerMs;
  await forEachInTurns(channels, limits.callsInFlightMax, async (channel) => {
    const waitMs = Math.min(limits.objectAnswerMs, endsAtMs - Date.now());
    const ask = async (): Promise<ChannelAnswers> =>
      CHANNELS.getByName(channel).execute([{ method: "unread", request: { user } }], false);
    const answered = await answerInTime("question to a channel", waitMs, ask);
    answers.set(channel, textOf(answered));
  });
  const members = channels.map((one) => `${JSON.stringify(one)}:${answers.get(one) ?? "{}"}`);
  const result = trustedJsonText(`{"channels":{${members.join(",")}}}`);
  return { outcome: "answers", answers: [{ result }] };
}

/** @param answered undefined if the object didn't answer in time */
function textOf(answered: ChannelAnswers | undefined): string {
  if (answered === undefined) return errorText({ error: errorCodes.internal });
  if (answered.outcome === "overloaded") return errorText({ error: errorCodes.tooManyRequests });
  const [answer = { error: errorCodes.internal }] = answered.answers;
  return "result" in answer ? answer.result : errorText(answer);
}

function errorText({ error }: Extract<ChannelAnswer, { readonly error: unknown }>): string {
  const { code, message } = error;
  return JSON.stringify({ error: { code, message } });
}
