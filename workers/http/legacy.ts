import type { Context } from "hono";
import { commandAnswers, encodeLines } from "../../src/api/answer.ts";
import { entriesOf } from "../../src/api/command.ts";
import { parseLegacy } from "../../src/api/legacy.ts";
import { callChannels } from "./calls.ts";
import type { Served } from "./middleware.ts";
import { readBody, respondUnread } from "./body.ts";
import { respondAnswer, respondAnswers, respondMalformed } from "./respond.ts";

/** `POST /api`: commands and answers as lines of JSON. Its errors are in the lines, in every mode. */
export async function legacy(context: Context<Served>): Promise<Response> {
  const body = await readBody(context.req.raw);
  if (body.outcome !== "text") return respondUnread(body);
  const parsed = parseLegacy(body.text, context.var.configured.config.channel);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  if (parsed.outcome === "refused") return respondAnswer(parsed, "");
  const commands = parsed.lines.map((line) => line.command);
  const entries = commands.flatMap(entriesOf);
  const called = await callChannels(context.env.CHANNELS, entries, "legacy");
  if (called.outcome === "refused") return respondAnswer(called, "");
  const answers = commandAnswers(commands, called.sheet.answers());
  const ids = parsed.lines.map((line) => line.id);
  return respondAnswers(encodeLines(ids, answers), called.sheet.retry());
}
