import { isCommandName } from "./operations.ts";
import { limits } from "../limits.ts";
import { memberText, parseJsonText } from "../protocol/json/text.ts";
import {
  type ApiCaller,
  type ApiCommand,
  type Malformed,
  type Refused,
  malformedAt,
} from "./command.ts";
import { tooManyCommands } from "./calls.ts";
import { parseNamed, unknownMethodDetail } from "./methods.ts";
import { objectField, parseShape, shape, textField, uint32Field } from "./shape.ts";

/** One line of the legacy form. The answer carries the same id. */
interface LegacyCommand {
  readonly id: number;
  readonly command: ApiCommand;
}

/** The lines of a legacy request, in order; or why none of their commands is carried out. */
export type ParsedLegacy =
  | { readonly outcome: "lines"; readonly lines: readonly LegacyCommand[] }
  | Refused
  | Malformed;

/**
 * Parses the body of `POST /api` (docs/protocol.md 6.1): JSON commands, one on each line. If one line is malformed, or
 * if there are too many lines, no command is carried out (rule W4).
 *
 * @param body the text of the body; empty lines are ignored
 */
export function parseLegacy(body: string, caller: ApiCaller): ParsedLegacy {
  const lines: LegacyCommand[] = [];
  let start = 0;
  for (let number = 1; start < body.length; number++) {
    const next = body.indexOf("\n", start);
    const end = next < 0 ? body.length : next;
    const text = body.slice(start, end).trim();
    start = end + 1;
    if (text === "") continue;
    if (lines.length === limits.requestCommandsMax) return tooManyCommands;
    const line = parseLine(text, caller);
    if (line.outcome === "malformed") return malformedAt(`line ${number}`, line);
    lines.push(line.value);
  }
  if (lines.length === 0) return { outcome: "malformed", detail: "the body contains no command" };
  return { outcome: "lines", lines };
}

type ParsedLine = { readonly outcome: "line"; readonly value: LegacyCommand } | Malformed;

function parseLine(text: string, caller: ApiCaller): ParsedLine {
  const json = parseJsonText(text);
  if (json === undefined) return { outcome: "malformed", detail: "not valid JSON" };
  const parsed = parseShape(lineShape, json);
  if (parsed.outcome === "malformed") return parsed;
  const { id, method: name } = parsed.value;
  if (!isCommandName(name) && name !== "rpc")
    return { outcome: "malformed", detail: unknownMethodDetail(name) };
  const params = memberText(json, "params") ?? "null";
  const command = parseNamed(name, params === "null" ? "{}" : params, caller);
  if (command.outcome === "malformed") return malformedAt("params", command);
  return { outcome: "line", value: { id, command: command.command } };
}

/** One line of the legacy form. */
export const lineShape = shape(() => ({
  id: uint32Field(),
  method: textField(),
  params: objectField(),
}));
