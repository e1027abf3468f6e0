import { limits } from "../limits.ts";
import {
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
  type MethodRequest,
  refusedUser,
  shape,
  type Shaped,
  textField,
  uint32Field,
} from "./shape.ts";

/**
 * The methods that ask who is connected, and where (docs/protocol.md 6.2). A key has to admit all
 * channels, because the answers name channels.
 */

function connectionsEntry(
  fields: Shaped<typeof connectionsShape>,
  request: MethodRequest,
): ParsedEntry {
  const { user, expression } = fields;
  if (expression !== "")
    return refusedRequest("expression is not supported: connections are found by user alone");
  return questionEntry({ method: "connections", user }, request, [user]);
}

function infoEntry(fields: Shaped<typeof pageShape>, request: MethodRequest): ParsedEntry {
  const page = pageOf(fields);
  if ("error" in page) return checkAllChannels(request) ?? page;
  return questionEntry({ method: "info", page }, request, []);
}

function channelsEntry(fields: Shaped<typeof pageShape>, request: MethodRequest): ParsedEntry {
  const { pattern } = fields;
  const page = pageOf(fields);
  const fault = "error" in page ? page : checkPattern(pattern);
  if (fault !== undefined) return checkAllChannels(request) ?? fault;
  if ("error" in page) return page;
  return questionEntry({ method: "channels", pattern, page }, request, []);
}

/** The page that a request asks for. */
export function pageOf({
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
function questionEntry(
  question: Question,
  request: MethodRequest,
  users: readonly string[],
): Entry {
  const refused = checkAllChannels(request);
  if (refused !== undefined) return refused;
  if (users.includes("")) return refusedRequest("user is required");
  const bad = users.map(refusedUser).find((one) => one !== undefined);
  if (bad !== undefined) return bad;
  return { outcome: "question", question };
}

/** A `connections` request. */
const connectionsShape = shape(() => ({ user: textField(), expression: textField() }));
/** A `channels` request; an `info` request has no pattern. */
const pageShape = shape(() => ({
  pattern: textField(),
  cursor: textField(),
  limit: uint32Field(),
}));

/** How the requests of these methods are read. */
export const questionMethods = {
  connections: { shape: connectionsShape, selects: true, entry: connectionsEntry },
  info: { shape: pageShape, entry: infoEntry },
  channels: { shape: pageShape, entry: channelsEntry },
} as const;
