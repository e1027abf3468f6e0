/**
 * The handlers of the HTTP API (docs/protocol.md 6). Each parses its request, calls the channels' objects, and
 * responds. Parsing, the plan of the calls and the answers are in `src/api`, and all statuses are in `responses.ts`.
 */
import type { Context, Handler } from "hono";
import type { CommandName } from "../../src/access/operations.ts";
import type { AppEnv, CarriedCounts } from "./app-env.ts";
import {
  type ApiCaller,
  type ApiCommand,
  entriesOf,
  type ParsedCommand,
  singleCommand,
  type Entry,
  type Malformed,
  type Refused,
} from "../../src/api/command.ts";
import { missingDetail, parseCommand, parseRpc } from "../../src/api/methods.ts";
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
  type Retry,
  withCauses,
} from "../../src/api/answers.ts";
import {
  type ErrorMode,
  errorModeOf,
  respondAnswer,
  respondAnswers,
  respondMalformed,
} from "./responses.ts";
import { parseBatch } from "../../src/api/batch.ts";
import { parseLegacy } from "../../src/api/legacy.ts";
import { isDevelopment } from "../platform/configuration.ts";
import { readBody } from "./body.ts";
import {
  type ObjectCall,
  planCalls,
  CallQueue,
  type ChannelCall,
  type UserCall,
} from "../../src/api/calls.ts";
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
import { type NoteUnknownFields, unknownFieldText } from "../../src/api/unknown-fields.ts";

/** `POST /api/<name>`: one command. */
export function carryOut(name: CommandName): Handler<AppEnv> {
  return handlerOf(name, jsonOf, (body, caller) => oneCommand(parseCommand(name, body, caller)));
}

/** `POST /api/rpc`, which is refused (rule W9). */
export function rpc(): Handler<AppEnv> {
  return handlerOf("rpc", jsonOf, (body) => oneCommand(singleCommand("rpc", parseRpc(body))));
}

/** `POST /api/<method>` for a method of Centrifugo that Dormouse doesn't have yet: answered 108. */
export function missing(method: string): Handler<AppEnv> {
  const detail = missingDetail(method);
  const refused = { outcome: "refused", error: errorCodes.notAvailable, detail } as const;
  return handlerOf(method, jsonOf, () => refused);
}

/** `POST /api/batch`: many commands, answered in the order of the request (rule W3). */
export function batch(): Handler<AppEnv> {
  return handlerOf("batch", jsonOf, (body, caller) => {
    const parsed = parseBatch(body, caller);
    if (parsed.outcome !== "batch") return parsed;
    const { commands } = parsed;
    return {
      outcome: "commands",
      commands,
      failsAsOne: true,
      respond: (answers, { detailed }, retry) =>
        respondAnswers(encodeReplies(commands, answers, detailed), retry),
    };
  });
}

/** `POST /api`: commands and answers as lines of JSON. Errors are in the lines, whatever the error mode. */
export function legacy(): Handler<AppEnv> {
  return handlerOf(
    "legacy",
    ({ req }) => readBody(req.raw),
    (body, caller) => {
      const parsed = parseLegacy(body, caller);
      if (parsed.outcome !== "lines") return parsed;
      const commands = parsed.lines.map((line) => line.command);
      const ids = parsed.lines.map((line) => line.id);
      return {
        outcome: "commands",
        commands,
        failsAsOne: false,
        respond: (answers, { detailed }, retry) =>
          respondAnswers(
            encodeLines(ids, commandAnswers(commands, answers, detailed), detailed),
            retry,
          ),
      };
    },
    { transport: false },
  );
}

/** A parsed request: its commands, and how their answers are written in the form in which it was made. */
interface ParsedRequest {
  readonly outcome: "commands";
  readonly commands: readonly ApiCommand[];
  /** Whether one error is the whole answer if no object did anything. */
  readonly failsAsOne: boolean;
  /**
   * @param answers one for each entry of the commands
   * @param retry   when to repeat the request, if all of its calls failed for now
   */
  readonly respond: (
    answers: readonly ApiAnswer[],
    mode: ErrorMode,
    retry: Retry | undefined,
  ) => Response;
}

/** The request of a single command. Only a broadcast has several answers to it. */
function oneCommand(parsed: ParsedCommand): ParsedRequest | Malformed {
  if (parsed.outcome === "malformed") return parsed;
  const { command } = parsed;
  const isBroadcast = command.form === "broadcast";
  return {
    outcome: "commands",
    commands: [command],
    failsAsOne: isBroadcast,
    respond: (answers, mode, retry) => {
      const answer = commandAnswer(command, answers, mode.detailed);
      return isBroadcast && retry !== undefined
        ? respondAnswers(encodeAnswer(answer, mode.detailed), retry)
        : respondAnswer(answer, mode, retry?.seconds);
    },
  };
}

/** The JSON that the middleware has read. */
function jsonOf(context: Context<AppEnv>): string {
  return context.get("request");
}

/**
 * Makes the handler of a form of request. For every form it parses the commands, calls their objects and writes the
 * answers.
 *
 * @param name  of the form or the method, for the log
 * @param read  reads the body, or responds to a request without a usable one
 * @param parse parses the body
 * @param fixed the part of the error mode that a request can't choose
 */
function handlerOf(
  name: string,
  read: (context: Context<AppEnv>) => string | Promise<string | Response>,
  parse: (body: string, caller: ApiCaller) => ParsedRequest | Refused | Malformed,
  fixed?: Pick<ErrorMode, "transport">,
): Handler<AppEnv> {
  return async (context) => {
    const body = await read(context);
    if (body instanceof Response) return body;
    const parsed = parse(body, callerOf(context));
    if (parsed.outcome === "malformed") return respondMalformed(parsed.detail);
    const mode = { ...errorModeOf(context), ...fixed };
    if (parsed.outcome === "refused") return answered(context, parsed, mode);
    const entries = parsed.commands.flatMap(entriesOf);
    const called = await callObjects(callingOf(context), entries, name);
    if (called.outcome === "refused") return answered(context, called, mode);
    const answers = called.collected.inOrder();
    const retry = called.collected.retry();
    if (parsed.failsAsOne && retry?.nothingDone === true)
      return answered(context, overloadedAnswer, mode, retry.seconds);
    noteErrors(context, entries, answers);
    return parsed.respond(answers, mode, retry);
  };
}

/** The backend that sends a request. */
export function callerOf(context: Context<AppEnv>): ApiCaller {
  const { channel: channels } = context.get("configured").config;
  const caller = { key: context.get("apiKey"), channels, nowMs: Date.now() };
  return isDevelopment(context.env) ? { ...caller, noteUnknown: warnOfUnknownFields } : caller;
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
export function callingOf(context: Context<AppEnv>): Calling {
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
 * have `limits.requestAnswerMs`. A call that couldn't begin by then is answered with an error. That time is enough to
 * wake 1,000 channels, or 300 if the platform allows only 6 calls at a time.
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

/** Makes a call where its entry is carried out: at one object, or at those that know the answer to a question. */
function callObject(
  calling: Calling,
  call: ObjectCall,
  method: string,
  waitMs: number,
): Promise<CallOutcome> {
  if ("question" in call) {
    const { question } = call;
    const { env, config } = calling;
    const ask = () => askQuestion(env, config, question);
    return outcomeOf(ask, `question failed: method=${question.method}`, waitMs);
  }
  return "orders" in call
    ? callUser(calling, call, method, waitMs)
    : callChannel(calling, call, method, waitMs);
}

/** Gives a user's home its orders, once; or the object that holds an anonymous connection, which its ID names. */
function callUser(
  { env, config }: Calling,
  { user, orders }: UserCall,
  method: string,
  waitMs: number,
): Promise<CallOutcome> {
  const what = `call for a user's connections failed: method=${method}`;
  if (user !== "") {
    const home = env.USERS.getByName(homeName(user));
    return outcomeOf(() => home.order(user, orders), what, waitMs, home);
  }
  const carryOutAtHolder = async (): Promise<CallOutcome> => {
    // Only these name anonymous connections.
    const ordered = orders.filter(isHolderOrder);
    const [first] = ordered;
    const node = nodeOfClient(first?.client ?? first?.session ?? "") ?? "";
    const holder = objectOf(node, env, config.channel);
    const numbered = ordered.map((order) => ({ number: 0, order }));
    // No connection can have the ID of a node that doesn't exist, and an order for nobody is carried out.
    await holder?.carryOut(user, numbered);
    return { outcome: "done" };
  };
  return outcomeOf(carryOutAtHolder, what, waitMs);
}

/**
 * Calls one channel's object once. An overloaded object must not be called again at once, and after a failure it is
 * unknown whether the commands were carried out.
 */
async function callChannel(
  { env: { CHANNELS }, config, req, counts }: Calling,
  { channel, commands }: ChannelCall,
  method: string,
  waitMs: number,
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
  const ask = () =>
    traceparent === undefined ? call() : inSpan(method, { traceparent, channel }, call);
  const what = `call to a channel failed: method=${method}`;
  return withCauses(await outcomeOf(ask, what, waitMs, object), channel, commands, config.channel);
}

/**
 * Waits for the outcome of a call.
 *
 * @param what   for the log, if the call throws
 * @param object that is called; absent for several, and for one that the log needn't name
 */
async function outcomeOf(
  call: () => Promise<CallOutcome>,
  what: string,
  waitMs: number,
  object?: CalledObject,
): Promise<CallOutcome> {
  try {
    return await inTime<CallOutcome>(call(), waitMs, timeout);
  } catch (error) {
    return failed(what, error, object);
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

/** Warns of the unknown fields of API requests: once for each method and field in an isolate (rule W14). */
const warnOfUnknownFields: NoteUnknownFields = (method, fields) => {
  for (const field of fields) {
    const line = `api ${method}: ${unknownFieldText(field)}`;
    if (warned.has(line) || warned.size >= limits.unknownFieldLinesMax) continue;
    warned.add(line);
    console.warn(line);
  }
};

const warned = new Set<string>();
