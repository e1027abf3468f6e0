import * as v from "valibot";
import { isCommandName, operationNames } from "./operations.ts";
import { limits } from "../limits.ts";
import { elementTexts, memberText } from "../protocol/json/text.ts";
import {
  type ApiCaller,
  type ApiCommand,
  type Malformed,
  type ParsedCommand,
  type Refused,
  malformedAt,
} from "./command.ts";
import { tooManyCommands } from "./calls.ts";
import { missingMethods, parseNamed } from "./methods.ts";
import { flagField, parseShape, shape } from "./shape.ts";

/** The commands of a batch, in order; or why none of them is carried out. */
export type ParsedBatch =
  | { readonly outcome: "batch"; readonly commands: readonly ApiCommand[] }
  | Refused
  | Malformed;

/**
 * Parses the body of `POST /api/batch` (docs/protocol.md 6.2) as a whole: if one command is malformed, or if there are
 * too many commands, none is carried out (rule W4).
 *
 * @param request the body, valid JSON
 */
export function parseBatch(request: string, caller: ApiCaller): ParsedBatch {
  const parsed = parseShape(batchShape, request);
  if (parsed.outcome === "malformed") return parsed;
  if ((parsed.value.commands ?? []).length > limits.requestCommandsMax) return tooManyCommands;
  const commands: ApiCommand[] = [];
  for (const [index, text] of (elementTexts(request, "commands") ?? []).entries()) {
    const element = parseElement(text, caller);
    if (element.outcome === "malformed") return malformedAt(`commands[${index}]`, element);
    commands.push(element.command);
  }
  return { outcome: "batch", commands };
}

/**
 * Parses one element. Its method is the only field whose name is a method's; other fields are ignored, as everywhere. An
 * element without a method is answered for itself (rule W9).
 */
function parseElement(text: string, caller: ApiCaller): ParsedCommand {
  const parsed = parseShape(elementShape, text);
  if (parsed.outcome === "malformed") return parsed;
  const present = new Set(
    Object.entries(parsed.value)
      .filter(([, params]) => (params ?? null) !== null)
      .map(([name]) => name),
  );
  if (present.size > 1)
    return { outcome: "malformed", detail: "the command names more than one method" };
  const [name = "unknown"] = present;
  const command = parseNamed(name, memberText(text, name) ?? "{}", caller);
  return command.outcome === "malformed" ? malformedAt(name, command) : command;
}

/**
 * A `batch` request. `parallel` is accepted and has no effect: calls to different channels always run in parallel, and the
 * commands for one channel never do (rule W3).
 */
export const batchShape = shape(() => ({
  commands: v.nullish(v.array(v.unknown(), "an array")),
  parallel: flagField(),
}));

const elementShape = shape(() =>
  Object.fromEntries(
    [...operationNames().filter(isCommandName), ...missingMethods].map((name) => [
      name,
      v.nullish(v.unknown()),
    ]),
  ),
);
