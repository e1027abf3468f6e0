import type { ApiKey } from "../../src/access/api-keys.ts";
import type { CommandName } from "../../src/access/operations.ts";
import {
  type ApiAnswer,
  commandAnswer,
  commandAnswers,
  encodeAnswer,
} from "../../src/api/answers.ts";
import { parseBatch } from "../../src/api/batch.ts";
import { entriesOf } from "../../src/api/command.ts";
import { parseNamed, unknownMethodDetail } from "../../src/api/methods.ts";
import { isCommandName } from "../../src/api/operations.ts";
import { errorCodes } from "../../src/protocol/codes.ts";
import { callObjects } from "../http/api.ts";
import { configurationOf } from "../platform/configuration.ts";
import { type PlacedObjects, placeObjects } from "../platform/placed-env.ts";
import { noteRefusal } from "../platform/refusal-log.ts";
import type { ApiResults } from "./api-types.ts";
import type {
  BatchCommand,
  BatchReplies,
  BatchRequest,
  RealtimeOutcome,
} from "./realtime-methods.ts";
import { isBound, unboundIn } from "./bindings.ts";
import { errorValue, RealtimeError } from "./realtime-error.ts";

/**
 * Carries out a command of the HTTP API without HTTP, with the same parsers, calls and answers.
 *
 * @param env    of the Worker, with the objects
 * @param params as the body of the request, with its names
 * @param key    gives the rights of the caller, and the name for the log
 * @returns the answer's `result`
 * @throws RealtimeError for every other answer
 */
export async function carryOut<Name extends CommandName>(
  env: object,
  name: Name,
  params: object,
  key: ApiKey,
): Promise<ApiResults[Name]> {
  const result: ApiResults[Name] = JSON.parse(await resultText(env, name, params, key));
  return result;
}

/** Calls a procedure of a channel. @returns what it has returned. @throws RealtimeError as {@link carryOut} */
export async function callProcedure<Result>(
  env: object,
  request: object,
  key: ApiKey,
): Promise<Result> {
  const result: { readonly data: Result } = JSON.parse(await resultText(env, "call", request, key));
  return result.data;
}

/** The `result` of a command's answer as JSON. */
async function resultText(
  env: object,
  name: CommandName,
  params: object,
  key: ApiKey,
): Promise<string> {
  const { config, placed, caller } = await callingOf(env, name, key);
  const parsed = parseNamed(name, textOf(name, params, key), caller);
  if (parsed.outcome === "malformed")
    throw refusal(name, key, { error: errorCodes.badRequest, detail: parsed.detail });
  const called = await callObjects({ env: placed, config }, entriesOf(parsed.command), name);
  if (called.outcome === "refused") throw refusal(name, key, called);
  const answer = commandAnswer(parsed.command, called.collected.inOrder());
  if ("error" in answer) throw refusal(name, key, answer);
  return answer.result;
}

/**
 * Carries out several commands, as `POST /api/batch` does.
 *
 * @returns what came of each
 * @throws RealtimeError if none was carried out
 */
export async function carryOutBatch<Commands extends readonly BatchCommand[]>(
  env: object,
  request: BatchRequest<Commands>,
  key: ApiKey,
): Promise<BatchReplies<Commands>> {
  const name = "batch";
  const { config, placed, caller } = await callingOf(env, name, key);
  const parsed = parseBatch(textOf(name, request, key), caller);
  if (parsed.outcome === "malformed")
    throw refusal(name, key, { error: errorCodes.badRequest, detail: parsed.detail });
  if (parsed.outcome === "refused") throw refusal(name, key, parsed);
  const entries = parsed.commands.flatMap(entriesOf);
  const called = await callObjects({ env: placed, config }, entries, name);
  if (called.outcome === "refused") throw refusal(name, key, called);
  const answers = commandAnswers(parsed.commands, called.collected.inOrder());
  const texts = answers.map((answer) => {
    if ("error" in answer) refusal(name, key, answer);
    return encodeAnswer(answer);
  });
  const replies: BatchReplies<Commands> = JSON.parse(`[${texts.join(",")}]`);
  return replies;
}

/**
 * Carries out a command, or `batch`, for another Worker, which knows what its binding's type says and may send anything.
 *
 * @returns the result, or the error as a value
 */
export async function outcomeOf(
  env: object,
  name: string,
  params: object,
  key: ApiKey,
): Promise<RealtimeOutcome<object>> {
  try {
    if (name === "batch") return { result: await carryOutBatch(env, params, key) };
    if (!isCommandName(name))
      throw refusal("outcome", key, {
        error: errorCodes.methodNotFound,
        detail: unknownMethodDetail(name),
      });
    return { result: await carryOut(env, name, params, key) };
  } catch (error) {
    if (!(error instanceof RealtimeError)) throw error;
    return { error: errorValue(error) };
  }
}

/** The JSON of a request. @throws RealtimeError if it can't be written, such as a BigInt */
function textOf(name: CalledName, params: object, key: ApiKey): string {
  try {
    return JSON.stringify(params);
  } catch {
    const detail = "a part of the request can't be written as JSON";
    throw refusal(name, key, { error: errorCodes.badRequest, detail });
  }
}

/** What commands need. @throws RealtimeError if the Worker isn't configured, or its objects may not be used */
async function callingOf(env: object, name: CalledName, key: ApiKey) {
  if (!isBound(env)) {
    const detail = unboundIn(env).join("; ");
    throw refusal(name, key, { error: errorCodes.internal, detail });
  }
  const configuration = configurationOf(env);
  if (configuration.outcome === "unconfigured")
    throw refusal(name, key, { error: errorCodes.internal, detail: problemsOf(configuration) });
  const { config } = configuration;
  const placed = await placeObjects(env, config);
  if (placed.outcome !== "placed") throw refusal(name, key, unplaced(placed));
  return {
    config,
    placed: placed.env,
    caller: { key, channels: config.channel, nowMs: Date.now() },
  };
}

type CalledName = CommandName | "batch" | "outcome";

/** The error of a command, which is in the log as well (rule A13). */
function refusal(
  name: CalledName,
  key: ApiKey,
  { error, detail }: Extract<ApiAnswer, { readonly error: object }>,
): RealtimeError {
  const { code, message, temporary } = error;
  const rule = code === errorCodes.permissionDenied.code ? "A14" : "W1";
  const reason = detail ?? message;
  noteRefusal({ refused: `api ${name}`, rule, reason, code, key: key.name }, undefined);
  const told = `${code}: ${message}${detail === undefined ? "" : `: ${detail}`}`;
  return new RealtimeError({
    message: told,
    code,
    ...(detail !== undefined && { detail }),
    isTemporary: temporary,
  });
}

/** The error where the objects may not be used (rule PL4), which is only for now while the record doesn't answer. */
function unplaced(placed: Exclude<PlacedObjects, { readonly outcome: "placed" }>) {
  return placed.outcome === "unknown"
    ? { error: errorCodes.tooManyRequests, detail: "the record of jurisdictions doesn't answer" }
    : { error: errorCodes.internal, detail: placed.problems.join("; ") };
}

function problemsOf({ problems }: { readonly problems: readonly string[] }): string {
  return `the Worker isn't configured: ${problems.join("; ")}`;
}
