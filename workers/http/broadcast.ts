import type { Context } from "hono";
import { commandAnswer, encodeAnswer } from "../../src/api/answer.ts";
import { overloadedAnswer } from "../../src/api/answers.ts";
import { entriesOf } from "../../src/api/command.ts";
import { parseBroadcast } from "../../src/api/parse-broadcast.ts";
import { callChannels } from "./calls.ts";
import type { Served } from "./middleware.ts";
import { errorModeOf, respondAnswer, respondAnswers, respondMalformed } from "./respond.ts";

/** `POST /api/broadcast`: one publication for many channels. */
export async function broadcast(context: Context<Served>): Promise<Response> {
  const parsed = parseBroadcast(context.var.request, context.var.configured.config.channel);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const mode = errorModeOf(context);
  const entries = entriesOf(parsed.command);
  const called = await callChannels(context.env.CHANNELS, entries, "broadcast");
  if (called.outcome === "refused") return respondAnswer(called, mode);
  const { sheet } = called;
  const retry = sheet.retry();
  if (retry?.nothingDone === true) return respondAnswer(overloadedAnswer, mode, retry.seconds);
  const answer = commandAnswer(parsed.command, sheet.answers());
  return retry === undefined
    ? respondAnswer(answer, mode)
    : respondAnswers(encodeAnswer(answer), retry);
}
