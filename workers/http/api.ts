/**
 * The handlers of the HTTP API (docs/protocol.md 6). Each parses its request, calls the channels' objects, and
 * responds. Parsing, the plan of the calls and the answers are in `src/api`, and all statuses are in `responses.ts`.
 */
import type { Context, Handler } from "hono";
import type { CommandName } from "../../src/access/operations.ts";
import { parseBroadcast } from "../../src/api/publish.ts";
import type { AppEnv, CarriedCounts } from "./app-env.ts";
import {
  type ApiCaller,
  entriesOf,
  type Entry,
  type Malformed,
  type Question,
  type Refused,
} from "../../src/api/command.ts";
import { missingDetail, parseEntry, parseRpc } from "../../src/api/methods.ts";
import {
  commandAnswer,
  encodeAnswer,
  overloadedAnswer,
  encodeReplies,
  commandAnswers,
  encodeLines,
  CollectedAnswers,
  type ApiAnswer,
  type CallOutcome,
  outcomeAnswer,
} from "../../src/api/answers.ts";
import {
  type ErrorMode,
  errorModeOf,
  respondAnswer,
  respondAnswers,
  respondMalformed,
  respondCall,
} from "./responses.ts";
import { withCauses } from "../../src/api/causes.ts";
import { parseBatch } from "../../src/api/batch.ts";
import { parseLegacy } from "../../src/api/legacy.ts";
import { isDevelopment } from "../platform/configuration.ts";
import { warnOfUnknownFields } from "./unknown-field-log.ts";
import { readBody } from "./body.ts";
import { type ObjectCall, planCalls, CallQueue, type UserCall } from "../../src/api/calls.ts";
import { availableEntry } from "../../src/api/order-methods.ts";
import { isHolderOrder } from "../../src/contract/user-order.ts";
import { homeName, nodeOfClient } from "../../src/contract/object-names.ts";
import { objectOf } from "./emulation.ts";
import { askQuestion } from "./backend-questions.ts";
import {
  type ChannelAnswers,
  type ChannelOperation,
  isPublishing,
} from "../../src/contract/channel-call.ts";
import { parseTraceparent, traced } from "../../src/contract/traceparent.ts";
import { errorCodes } from "../../src/protocol/codes.ts";
import { limits } from "../../src/limits.ts";
import {
  type CalledObject,
  overloadedRetrySeconds,
  parseCallFailure,
  inTime,
} from "../platform/object-call.ts";
import type { Env } from "../platform/env.ts";
import type { Config } from "../../src/config/config.ts";
import { inSpan } from "../platform/spans.ts";

/** `POST /api/<name>`: one command. */
export function carryOut(name: CommandName): Handler<AppEnv> {
  if (name === "broadcast") return broadcast;
  return (context) =>
    answerEntry(context, parseEntry(name, context.get("request"), callerOf(context)), name);
}

/** `POST /api/rpc`, which is refused (rule W9). */
export const rpc: Handler<AppEnv> = (context) =>
  answerEntry(context, parseRpc(context.get("request")), "rpc");

/** `POST /api/<method>` for a method of Centrifugo that Dormouse doesn't have yet: answered 108, and said so. */
export function missing(method: string): Handler<AppEnv> {
  const detail = missingDetail(method);
  return (context) =>
    answered(context, { error: errorCodes.notAvailable, detail }, errorModeOf(context));
}

/** `POST /api/broadcast`: one publication for many channels. */
async function broadcast(context: Context<AppEnv>): Promise<Response> {
  const parsed = parseBroadcast(context.get("request"), callerOf(context));
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const mode = errorModeOf(context);
  const entries = entriesOf(parsed.command);
  const called = await callObjects(callingOf(context), entries, "broadcast");
  if (called.outcome === "refused") return answered(context, called, mode);
  const { collected } = called;
  const retry = collected.retry();
  if (retry?.nothingDone === true) return answered(context, overloadedAnswer, mode, retry.seconds);
  noteErrors(context, entries, collected.inOrder());
  const answer = commandAnswer(parsed.command, collected.inOrder(), mode.detailed);
  return retry === undefined
    ? answered(context, answer, mode)
    : respondAnswers(encodeAnswer(answer, mode.detailed), retry);
}

/** `POST /api/batch`: many commands, answered in the order of the request (rule W3). */
export async function batch(context: Context<AppEnv>): Promise<Response> {
  const parsed = parseBatch(context.get("request"), callerOf(context));
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const mode = errorModeOf(context);
  if (parsed.outcome === "refused") return answered(context, parsed, mode);
  const entries = parsed.commands.flatMap(entriesOf);
  const called = await callObjects(callingOf(context), entries, "batch");
  if (called.outcome === "refused") return answered(context, called, mode);
  const { collected } = called;
  const retry = collected.retry();
  if (retry?.nothingDone === true) return answered(context, overloadedAnswer, mode, retry.seconds);
  noteErrors(context, entries, collected.inOrder());
  return respondAnswers(encodeReplies(parsed.commands, collected.inOrder(), mode.detailed), retry);
}

/** `POST /api`: commands and answers as lines of JSON. Errors are in the lines, whatever the error mode. */
export async function legacy(context: Context<AppEnv>): Promise<Response> {
  const body = await readBody(context.req.raw);
  if (body instanceof Response) return body;
  const parsed = parseLegacy(body, callerOf(context));
  if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
  const mode = { ...errorModeOf(context), transport: false };
  if (parsed.outcome === "refused") return answered(context, parsed, mode);
  const commands = parsed.lines.map((line) => line.command);
  const entries = commands.flatMap(entriesOf);
  const called = await callObjects(callingOf(context), entries, "legacy");
  if (called.outcome === "refused") return answered(context, called, mode);
  noteErrors(context, entries, called.collected.inOrder());
  const answers = commandAnswers(commands, called.collected.inOrder(), mode.detailed);
  const ids = parsed.lines.map((line) => line.id);
  return respondAnswers(encodeLines(ids, answers, mode.detailed), called.collected.retry());
}

/** The backend that sends a request. */
export function callerOf(context: Context<AppEnv>): ApiCaller {
  const { channel: channels } = context.get("configured").config;
  const caller = { key: context.get("apiKey"), channels, nowMs: Date.now() };
  return isDevelopment(context.env) ? { ...caller, noteUnknown: warnOfUnknownFields } : caller;
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
  const calling = callingOf(context);
  const { config } = calling;
  switch (entry.outcome) {
    case "malformed":
      return respondMalformed(entry.detail);
    case "refused":
      noteError(context, entry, entry.channel);
      return respondAnswer(entry, mode);
    case "order": {
      const { user, order } = entry;
      const available = availableEntry(entry, config.client.users);
      if (available.outcome === "refused") return answered(context, available, mode);
      const call = { user, orders: [order], entryIndexes: [0] };
      const outcome = await callUser(calling, call, method);
      noteError(context, outcomeAnswer(outcome, 0), undefined);
      return respondCall(outcome, mode);
    }
    case "question": {
      const available = availableEntry(entry, config.client.users);
      if (available.outcome === "refused") return answered(context, available, mode);
      const outcome = await callFor(calling, entry.question);
      noteError(context, outcomeAnswer(outcome, 0), undefined);
      return respondCall(outcome, mode);
    }
    case "call": {
      const { channel, command } = entry;
      const outcome = await callChannel(calling, channel, [command], method);
      noteError(context, outcomeAnswer(outcome, 0), channel);
      return respondCall(outcome, mode);
    }
  }
}

/** Responds with one answer, and leaves its error for the log (rule A13). */
function answered(
  context: Context<AppEnv>,
  answer: ApiAnswer,
  mode: ErrorMode,
  retrySeconds?: number,
): Response {
  noteError(context, answer, undefined);
  return respondAnswer(answer, mode, retrySeconds);
}

/** Leaves the first error of a request to many channels for the log: one line says that the request was refused. */
function noteErrors(
  context: Context<AppEnv>,
  entries: readonly Entry[],
  answers: readonly ApiAnswer[],
): void {
  const index = answers.findIndex((answer) => "error" in answer);
  const answer = answers[index];
  const entry = entries[index];
  if (answer === undefined) return;
  noteError(context, answer, entry !== undefined && "channel" in entry ? entry.channel : undefined);
}

/** Leaves an error for the log, and says nothing of any other answer (rule A13). */
export function noteError(
  context: Context<AppEnv>,
  answer: ApiAnswer,
  channel: string | undefined,
): void {
  if (!("error" in answer)) return;
  const { code, message } = answer.error;
  const named = channel === undefined ? {} : { channel };
  // Only a key refuses with this error: a backend may do everything else.
  const rule = code === errorCodes.permissionDenied.code ? "A14" : "W1";
  context.set("refusal", { rule, reason: answer.detail ?? message, code, ...named });
}

/** The needs of a call, which the consumer of a queue has too. */
export interface Calling {
  readonly env: Env;
  readonly config: Config;
  /** The request, which may belong to a trace; absent for messages of a queue. */
  readonly req?: { readonly raw: { readonly headers: Headers } };
  readonly counts?: CarriedCounts | undefined;
}

/** Hono's `context.var` makes an object of all variables each time. */
function callingOf(context: Context<AppEnv>): Calling {
  return {
    env: context.env,
    config: context.get("configured").config,
    req: context.req,
    counts: context.get("counts"),
  };
}

/** The collected answers to a request's calls, or the reason why no call was made. */
type Called = { readonly outcome: "called"; readonly collected: CollectedAnswers } | Refused;

/**
 * Makes the calls of a request, with as many in flight as the queue allows (rule B28). Each call has
 * `limits.objectAnswerMs` from its own start, so that waiting for other calls doesn't shorten it. All calls together
 * have `limits.requestAnswerMs`, however many channels don't answer. A call that couldn't begin by then is answered
 * with an error. The time is enough for 1,000 channels that have to be woken, or for 300 of them if the platform allows
 * only 6 calls at a time.
 *
 * @param entries of the whole request
 * @param method of the request, for the log
 */
export async function callObjects(
  calling: Calling,
  entries: readonly Entry[],
  method: string,
): Promise<Called> {
  const { users } = calling.config.client;
  const available = entries.map((entry) => availableEntry(entry, users));
  const plan = planCalls(available);
  if (plan.outcome === "refused") return plan;
  const collected = new CollectedAnswers(available);
  const queue = new CallQueue(plan.calls);
  const endsAtMs = Date.now() + limits.requestAnswerMs;
  // A function of its own, so that the answers of a call can be collected as garbage during the next calls.
  const make = async (call: ObjectCall): Promise<void> => {
    const waitMs = Math.min(limits.objectAnswerMs, endsAtMs - Date.now());
    collected.record(call, waitMs > 0 ? await callObject(calling, call, method, waitMs) : notBegun);
    queue.ended(call);
  };
  const proceed = async (): Promise<void> => {
    await Promise.all(
      queue.begin().map(async (call) => {
        await make(call);
        await proceed();
      }),
    );
  };
  await proceed();
  return { outcome: "called", collected };
}

function callObject(
  calling: Calling,
  call: ObjectCall,
  method: string,
  waitMs: number,
): Promise<CallOutcome> {
  if ("question" in call) return callFor(calling, call.question, waitMs);
  return "orders" in call
    ? callUser(calling, call, method, waitMs)
    : callChannel(calling, call.channel, call.commands, method, waitMs);
}

/** Finds the answer to a question, within so many ms. */
async function callFor(
  { env, config }: Calling,
  question: Question,
  waitMs: number = limits.objectAnswerMs,
): Promise<CallOutcome> {
  try {
    return await inTime<CallOutcome>(askQuestion(env, config, question), waitMs, timeout);
  } catch (error) {
    return failed(`question failed: method=${question.method}`, error);
  }
}

/** Gives a user's home its orders, once; or the object that holds an anonymous connection, which its ID names. */
async function callUser(
  { env, config }: Calling,
  { user, orders }: UserCall,
  method: string,
  waitMs: number = limits.objectAnswerMs,
): Promise<CallOutcome> {
  const home = user === "" ? undefined : env.USERS.getByName(homeName(user));
  try {
    if (home !== undefined)
      return await inTime<CallOutcome>(home.order(user, orders), waitMs, timeout);
    // Only these name anonymous connections.
    const ordered = orders.filter(isHolderOrder);
    const [first] = ordered;
    const node = nodeOfClient(first?.client ?? first?.session ?? "") ?? "";
    const holder = objectOf(node, env, config.channel);
    // No connection can have this ID, and an order for nobody is carried out.
    if (holder === undefined) return { outcome: "done" };
    const numbered = ordered.map((order) => ({ number: 0, order }));
    const done = holder.carryOut(user, numbered).then(() => ({ outcome: "done" }) as const);
    return await inTime<CallOutcome>(done, waitMs, timeout);
  } catch (error) {
    return failed(`call for a user's connections failed: method=${method}`, error, home);
  }
}

/**
 * Calls one channel's object once. An overloaded object must not be called again at once, and after a failure it is
 * unknown whether the commands were carried out.
 *
 * @param method of the request, for the log
 * @param waitMs the time that the object has
 */
async function callChannel(
  { env: { CHANNELS }, config, req, counts }: Calling,
  channel: string,
  commands: readonly ChannelOperation[],
  method: string,
  waitMs: number = limits.objectAnswerMs,
): Promise<CallOutcome> {
  const header = req?.raw.headers.get("traceparent") ?? undefined;
  const traceparent = header === undefined ? undefined : parseTraceparent(header);
  // A queue's messages aren't counted as requests, so nothing would report the counts that come with their answers.
  const carries = counts?.hasRoom() === true;
  const object = CHANNELS.getByName(channel);
  const call = async (): Promise<ChannelAnswers> => {
    const answers = await object.execute(withTrace(commands, traceparent), carries);
    counts?.take(answers);
    return answers;
  };
  try {
    const answers =
      traceparent === undefined ? call() : inSpan(method, { traceparent, channel }, call);
    const outcome = await inTime<CallOutcome>(answers, waitMs, timeout);
    return withCauses(outcome, channel, commands, config.channel);
  } catch (error) {
    return failed(`call to a channel failed: method=${method}`, error, object);
  }
}

/** The outcome of a call that threw. Unless the object is overloaded, a line in the log names the object (rule N13). */
function failed(what: string, error: unknown, object?: CalledObject): CallOutcome {
  const { overloaded, summary, detail } = parseCallFailure(error, object);
  if (overloaded) return { outcome: "overloaded", retryAfterSeconds: overloadedRetrySeconds };
  console.error(`${what} ${summary}`);
  return { outcome: "failed", ...(detail !== undefined && { detail }) };
}

/** The commands with the trace of the request in each publish (rule X1). */
function withTrace(
  commands: readonly ChannelOperation[],
  traceparent: string | undefined,
): readonly ChannelOperation[] {
  if (traceparent === undefined) return commands;
  return commands.map((command) =>
    isPublishing(command) ? traced(command, traceparent) : command,
  );
}

const timeout: CallOutcome = { outcome: "timeout", retryAfterSeconds: overloadedRetrySeconds };
const notBegun: CallOutcome = { outcome: "not-begun", retryAfterSeconds: overloadedRetrySeconds };
