/** Checks the answers of functions that are hooks (rule OW11). */
import {
  hasOtherField,
  type Invalid,
  invalid,
  resultFields,
} from "../../../src/features/hooks/response.ts";
import { parseJsonObject } from "../../../src/protocol/json/text.ts";
import { isJsonObject, type JsonValue } from "../../../src/protocol/wire-value.ts";
import { parseGiven } from "./given-json.ts";

/** The answer as a backend would send it; why it isn't one of the hook, if it isn't. */
export function parseFunctionAnswer(hook: string, given: unknown): ReturnType<typeof parseGiven> {
  const answer = parseGiven(given);
  if (answer.outcome !== "text") return answer;
  return parseFault(hook, answer.text, Object.keys(Object(given))) ?? answer;
}

/**
 * A backend over HTTP may have fields that aren't known, as with Centrifugo. Of a function's, `{ allowed: false }` would count
 * as nothing, which allows.
 *
 * @param names the fields of the answer, those included that are undefined
 */
function parseFault(hook: string, text: string, names: readonly string[]): Invalid | undefined {
  const answer = parseJsonObject(text);
  if (answer === undefined) return invalid("it isn't an object");
  const other = names.find((name) => !answerFields.includes(name));
  if (other !== undefined) return invalid(`it has another field than ${answerFields.join(", ")}`);
  const absent = names.find((name) => !(name in answer.fields));
  if (absent !== undefined) return invalid(`"${absent}" is undefined`);
  const { result = null, error = null, disconnect = null } = answer.fields;
  if (result === null) return undefined;
  const isRefusal = (error ?? disconnect) !== null;
  if (hook === "connect" && !isRefusal && !namesUser(result))
    return invalid('"result.user" is not a string');
  if (!isJsonObject(result)) return invalid('"result" is not an object');
  return hasOtherField(result, hook)
    ? invalid(`"result" has another field than ${resultFields[hook]?.join(", ")}`)
    : undefined;
}

function namesUser(result: JsonValue): boolean {
  return isJsonObject(result) && typeof result["user"] === "string";
}

const answerFields = ["result", "error", "disconnect"];
