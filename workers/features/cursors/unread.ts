import type { CallOutcome } from "../../../src/api/answers.ts";
import type { UnreadQuestion } from "../../../src/api/command.ts";
import type { ChannelAnswers } from "../../../src/contract/channel-call.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { encodeUnread, type UnreadAnswer } from "../../../src/features/cursors/client-methods.ts";
import type { Env } from "../../platform/env.ts";
import { answerInTime, forEachInTurns } from "../../platform/object-call.ts";

/** Asks the object of each channel how much a user hasn't read, `limits.callsInFlightMax` at a time (rule CU4). */
export async function askUnread(
  { CHANNELS }: Env,
  { user, channels }: UnreadQuestion,
): Promise<CallOutcome> {
  const answers = new Map<string, UnreadAnswer>();
  const endsAtMs = Date.now() + limits.requestAnswerMs;
  await forEachInTurns(channels, limits.callsInFlightMax, async (channel) => {
    const waitMs = Math.min(limits.objectAnswerMs, endsAtMs - Date.now());
    const ask = async (): Promise<ChannelAnswers> =>
      CHANNELS.getByName(channel).execute([{ method: "unread", request: { user } }], false);
    const answered = await answerInTime("question to a channel", waitMs, ask);
    answers.set(channel, answerOf(answered));
  });
  return { outcome: "answers", answers: [{ result: encodeUnread(channels, answers) }] };
}

/** @param answered undefined if the object didn't answer in time */
function answerOf(answered: ChannelAnswers | undefined): UnreadAnswer {
  if (answered === undefined) return { error: errorCodes.internal };
  if (answered.outcome === "overloaded") return { error: errorCodes.tooManyRequests };
  return answered.answers[0] ?? { error: errorCodes.internal };
}
