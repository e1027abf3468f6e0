import { limits } from "../limits.ts";
import {
  type ApiCaller,
  type Entry,
  type Page,
  type ParsedEntry,
  type Question,
  type Refused,
  refusedRequest,
} from "./command.ts";
import { compileGlob } from "../access/name-glob.ts";
import {
  checkAllChannels,
  parseSelection,
  parseShape,
  refusedUser,
  shape,
  textField,
  uint32Field,
} from "./shape.ts";

/**
 * The parsers of the methods that ask who is connected, and where (docs/protocol.md 6.2). A key has to admit all
 * channels, because the answers name channels.
 */

/** Parses a `connections` request. */
export function parseConnections(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseSelection(connectionsShape, params);
  if (parsed.outcome !== "shape") return parsed;
  const { user, expression } = parsed.value;
  if (expression !== "")
    return refusedRequest("expression is not supported: connections are found by user alone");
  return questionEntry({ method: "connections", user }, caller, [user]);
}

/** Parses an `info` request. */
export function parseInfo(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(pageShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const page = pageOf(parsed.value);
  if ("error" in page) return checkAllChannels("info", caller.key) ?? page;
  return questionEntry({ method: "info", page }, caller, []);
}

/** Parses a `channels` request. */
export function parseChannels(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(pageShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { pattern } = parsed.value;
  const page = pageOf(parsed.value);
  const fault = "error" in page ? page : checkPattern(pattern);
  if (fault !== undefined) return checkAllChannels("channels", caller.key) ?? fault;
  if ("error" in page) return page;
  return questionEntry({ method: "channels", pattern, page }, caller, []);
}

function pageOf({
  cursor,
  limit,
}: {
  readonly cursor: string;
  readonly limit: number;
}): Page | Refused {
  if (limit > limits.pageSizeMax)
    return refusedRequest(`limit must be at most ${limits.pageSizeMax}`);
  // Half of a character can't come out of an answer, and the objects would read it as another one.
  if (!cursor.isWellFormed()) return refusedRequest("cursor must be one that an answer gave");
  return { after: cursor, limit: limit === 0 ? limits.pageSizeMax : limit };
}

function checkPattern(pattern: string): Refused | undefined {
  if (pattern.length > limits.channelPatternCharactersMax)
    return refusedRequest(`pattern has more than ${limits.channelPatternCharactersMax} characters`);
  return pattern.isWellFormed() && compileGlob(pattern) !== undefined
    ? undefined
    : refusedRequest("pattern must be a glob, with *, ?, [a-z] and {a,b}");
}

/** A question about these users, if the key admits it. */
function questionEntry(question: Question, { key }: ApiCaller, users: readonly string[]): Entry {
  const refused = checkAllChannels(question.method, key);
  if (refused !== undefined) return refused;
  if (users.includes("")) return refusedRequest("user is required");
  const bad = users.map(refusedUser).find((one) => one !== undefined);
  if (bad !== undefined) return bad;
  return { outcome: "question", question };
}

/** A `connections` request. */
export const connectionsShape = shape(() => ({ user: textField(), expression: textField() }));
/** A `channels` request; an `info` request has no pattern. */
export const pageShape = shape(() => ({
  pattern: textField(),
  cursor: textField(),
  limit: uint32Field(),
}));
