import type { Context } from "hono";
import { encodeReplies } from "../../src/api/answer.ts";
import { overloadedAnswer } from "../../src/api/answers.ts";
import { entriesOf } from "../../src/api/command.ts";
import { parseBatch } from "../../src/api/batch.ts";
import { callChannels } from "./calls.ts";
import type { Served } from "./middleware.ts";
import { errorModeOf, respondAnswer, respondAnswers, respondMalformed } from "./respond.ts";

/** `POST /api/batch`: many commands, each answered in its place. */
export async function batch(context: Context<Served>): Promise<Response> {
  const parsed = parseBatch(context.var.request, context.var.configured.config.channel);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const mode = errorModeOf(context);
  if (parsed.outcome === "refused") return respondAnswer(parsed, mode);
  const entries = parsed.commands.flatMap(entriesOf);
  const called = await callChannels(context.env.CHANNELS, entries, "batch");
  if (called.outcome === "refused") return respondAnswer(called, mode);
  const { sheet } = called;
  const retry = sheet.retry();
  if (retry?.nothingDone === true) return respondAnswer(overloadedAnswer, mode, retry.seconds);
  return respondAnswers(encodeReplies(parsed.commands, sheet.answers()), retry);
}
