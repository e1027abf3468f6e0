/** Checks the answers of functions that are hooks (rule OW11). */
import {
  hasOtherField,
  type Invalid,
  invalid,
  resultFields,
  type ConnectResultRead,
  parseConnectResult,
} from "../../../src/features/hooks/response.ts";
import { parseJsonObject } from "../../../src/protocol/json/text.ts";
import { isJsonObject, type JsonValue } from "../../../src/protocol/wire-value.ts";
import type { ConnectionClaims } from "../../../src/access/claims.ts";

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

/**
 * The claims of a connection, as if a token had named them.
 *
 * @param visitor the user's ID, or what a result of the connect hook could say; nothing, or "", if the Worker doesn't know
 *
 * @throws if the description can't be right, with the field that is wrong
 */
export function claimsOf(
  visitor: string | { readonly user: string } | null | undefined,
): ConnectionClaims | undefined {
  if (visitor === undefined || visitor === null || visitor === "") return undefined;
  const described = typeof visitor === "string" ? { user: visitor } : visitor;
  const given = parseGiven(described);
  const read = given.outcome === "text" ? readDescription(given.text) : given;
  if (read.outcome === "invalid")
    throw new Error(`user of dormouse() gave a description that can't be used: ${read.reason}`);
  return read.claims;
}

/** The same of what a Worker's `user` gives. If it can't be used, the log says why, and the connection is refused. */
export async function askForClaims(
  user: () => Promise<Parameters<typeof claimsOf>[0]>,
): Promise<ConnectionClaims | undefined> {
  try {
    return claimsOf(await user());
  } catch (error) {
    console.error("who connects isn't known:", error);
    throw error;
  }
}

/** Reads a description that JavaScript may have made of anything: only one that names a user is one (rule OW11). */
function readDescription(text: string): ConnectResultRead {
  const object = parseJsonObject(text);
  if (object === undefined)
    return { outcome: "invalid", reason: "it is neither a text nor an object with a user" };
  if (typeof object.fields["user"] !== "string")
    return { outcome: "invalid", reason: '"user" is not a string' };
  // With a mistyped `expire_at` the connection would never end.
  if (hasOtherField(object.fields, "connect"))
    return invalid(`it has another field than ${resultFields["connect"]?.join(", ")}`);
  return parseConnectResult(object.text);
}

/**
 * The values of the Worker's own code where JSON is wanted: a description of who connects, and the answers of functions
 * (rule OW11). JavaScript may give anything, and `JSON.stringify` throws for some of it and leaves other parts out.
 */

/** Writes it as JSON, unless a part of it can't be written; the reason names the part. An absent member may be undefined. */
export function parseGiven(
  given: unknown,
): { readonly outcome: "text"; readonly text: string } | Invalid {
  try {
    const fault = given === undefined ? "it is undefined" : parsePart(given, "", []);
    return fault === undefined
      ? { outcome: "text", text: JSON.stringify(given) }
      : invalid(`${fault}, which JSON can't say`);
  } catch {
    return invalid("it can't be read"); // A getter or a toJSON threw, or it is too deep.
  }
}

/** Why a part can't be written; undefined if it can. */
function parsePart(part: unknown, path: string, within: readonly object[]): string | undefined {
  const name = path === "" ? "it" : `"${path}"`;
  switch (typeof part) {
    case "string":
    case "boolean":
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(part) ? undefined : `${name} is ${part}`;
    case "bigint":
    case "symbol":
    case "function":
      return `${name} is a ${typeof part}`;
    case "object":
      break;
  }
  if (part === null) return undefined;
  if (within.includes(part)) return `${name} is part of itself`;
  // Such as a Date inside, which says itself how it is written.
  if (within.length > 0 && "toJSON" in part) return undefined;
  if (!Array.isArray(part) && !isPlain(part))
    return `${name} is an instance of ${part.constructor.name}`;
  for (const [key, value] of Object.entries(part)) {
    const fault = parsePart(value, path === "" ? key : `${path}.${key}`, [...within, part]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Whether an object is none of a class. */
function isPlain(part: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(part);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
