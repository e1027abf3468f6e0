/**
 * The handlers of the HTTP API (docs/protocol.md 6). Each parses its request, has the channels' objects called, and
 * responds. Parsing and answers are in `src/api`, the calls in `calls.ts`, and all statuses in `respond.ts`.
 */
import type { Context, Handler } from "hono";
import { parsePublish, parseBroadcast } from "../../src/api/publish.ts";
import type { AppEnv } from "./middleware.ts";
import { type SingleMethod, entriesOf, type Entry, type Malformed } from "../../src/api/command.ts";
import { parseEntry } from "../../src/api/methods.ts";
import {
  commandAnswer,
  encodeAnswer,
  overloadedAnswer,
  encodeReplies,
  commandAnswers,
  encodeLines,
} from "../../src/api/answers.ts";
import { callChannels, callChannel } from "./calls.ts";
import {
  errorModeOf,
  respondAnswer,
  respondAnswers,
  respondMalformed,
  respondCall,
} from "./respond.ts";
import { parseBatch } from "../../src/api/batch.ts";
import { parseLegacy } from "../../src/api/legacy.ts";
import { readBody, respondUnreadable } from "./body.ts";

/** `POST /api/publish`: one publication for one channel. */
export function publish(context: Context<AppEnv>): Promise<Response> {
  const { request, configured } = context.var;
  return answerEntry(context, parsePublish(request, configured.config.channel), "publish");
}

/** `POST /api/<method>` for each other method that acts on one channel, such as history and presence. */
export function singleChannel(method: Exclude<SingleMethod, "publish">): Handler<AppEnv> {
  return (context) => {
    const { request, configured } = context.var;
    return answerEntry(context, parseEntry(method, request, configured.config.channel), method);
  };
}

/** `POST /api/broadcast`: one publication for many channels. */
export async function broadcast(context: Context<AppEnv>): Promise<Response> {
  const parsed = parseBroadcast(context.var.request, context.var.configured.config.channel);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const mode = errorModeOf(context);
  const entries = entriesOf(parsed.command);
  const called = await callChannels(context.env.CHANNELS, entries, "broadcast");
  if (called.outcome === "refused") return respondAnswer(called, mode);
  const { collected } = called;
  const retry = collected.retry();
  if (retry?.nothingDone === true) return respondAnswer(overloadedAnswer, mode, retry.seconds);
  const answer = commandAnswer(parsed.command, collected.inOrder());
  return retry === undefined
    ? respondAnswer(answer, mode)
    : respondAnswers(encodeAnswer(answer), retry);
}

/** `POST /api/batch`: many commands, answered in the order of the request (rule W3). */
export async function batch(context: Context<AppEnv>): Promise<Response> {
  const parsed = parseBatch(context.var.request, context.var.configured.config.channel);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const mode = errorModeOf(context);
  if (parsed.outcome === "refused") return respondAnswer(parsed, mode);
  const entries = parsed.commands.flatMap(entriesOf);
  const called = await callChannels(context.env.CHANNELS, entries, "batch");
  if (called.outcome === "refused") return respondAnswer(called, mode);
  const { collected } = called;
  const retry = collected.retry();
  if (retry?.nothingDone === true) return respondAnswer(overloadedAnswer, mode, retry.seconds);
  return respondAnswers(encodeReplies(parsed.commands, collected.inOrder()), retry);
}

/** `POST /api`: commands and answers as lines of JSON. Errors are in the lines, whatever the error mode. */
export async function legacy(context: Context<AppEnv>): Promise<Response> {
  const body = await readBody(context.req.raw);
  if (body.outcome !== "text") return respondUnreadable(body);
  const parsed = parseLegacy(body.text, context.var.configured.config.channel);
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  if (parsed.outcome === "refused") return respondAnswer(parsed, "");
  const commands = parsed.lines.map((line) => line.command);
  const entries = commands.flatMap(entriesOf);
  const called = await callChannels(context.env.CHANNELS, entries, "legacy");
  if (called.outcome === "refused") return respondAnswer(called, "");
  const answers = commandAnswers(commands, called.collected.inOrder());
  const ids = parsed.lines.map((line) => line.id);
  return respondAnswers(encodeLines(ids, answers), called.collected.retry());
}

/**
 * Carries out a request that is one command for one channel, and responds.
 *
 * @param entry  the parsed request
 * @param method of the request, for the log
 */
async function answerEntry(
  context: Context<AppEnv>,
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
