import type { ApiKey } from "../../src/access/api-keys.ts";
import type { CommandName } from "../../src/access/operations.ts";
import { type ApiAnswer, commandAnswer } from "../../src/api/answers.ts";
import { entriesOf } from "../../src/api/command.ts";
import { parseNamed } from "../../src/api/methods.ts";
import { errorCodes } from "../../src/protocol/codes.ts";
import { callObjects } from "../http/api.ts";
import { configurationOf } from "../platform/configuration.ts";
import { type PlacedObjects, placeObjects } from "../platform/placed-env.ts";
import { noteRefusal } from "../platform/refusal-log.ts";
import type { ApiResults } from "./api-types.ts";
import { isBound, unboundIn } from "./bindings.ts";
import { RealtimeError } from "./realtime-error.ts";

/**
 * Carries out a command of the HTTP API without HTTP: the same parsers, the same calls and the same answers.
 *
 * @param env    of the Worker, with the objects
 * @param params as the body of the request, with its names
 * @param key    whose rights count, and whose name stands in the log
 * @returns the answer's `result`
 * @throws RealtimeError for every other answer
 */
export async function carryOut<Name extends CommandName>(
  env: object,
  name: Name,
  params: object,
  key: ApiKey,
): Promise<ApiResults[Name]> {
  if (!isBound(env)) {
    const detail = unboundIn(env).join("; ");
    throw refusal(name, key, { error: errorCodes.internal, detail });
  }
  const configuration = configurationOf(env);
  if (configuration.outcome === "unconfigured")
    throw refusal(name, key, { error: errorCodes.internal, detail: problemsOf(configuration) });
  const { config } = configuration;
  const caller = { key, channels: config.channel, nowMs: Date.now() };
  const parsed = parseNamed(name, JSON.stringify(params), caller);
  if (parsed.outcome === "malformed")
    throw refusal(name, key, { error: errorCodes.badRequest, detail: parsed.detail });
  const placed = await placeObjects(env, config);
  if (placed.outcome !== "placed") throw refusal(name, key, unplaced(placed));
  const called = await callObjects({ env: placed.env, config }, entriesOf(parsed.command), name);
  if (called.outcome === "refused") throw refusal(name, key, called);
  const answer = commandAnswer(parsed.command, called.collected.inOrder());
  if ("error" in answer) throw refusal(name, key, answer);
  const result: ApiResults[Name] = JSON.parse(answer.result);
  return result;
}

/** The error of a command, which is in the log as well (rule A13). */
function refusal(
  name: CommandName,
  key: ApiKey,
  { error, detail }: Extract<ApiAnswer, { readonly error: object }>,
): RealtimeError {
  const { code, message, temporary } = error;
  const rule = code === errorCodes.permissionDenied.code ? "A14" : "W1";
  const reason = detail ?? message;
  noteRefusal({ refused: `api ${name}`, rule, reason, code, key: key.name }, undefined);
  return new RealtimeError(code, message, detail, temporary);
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
