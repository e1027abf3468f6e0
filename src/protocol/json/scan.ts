/**
 * Finds the places of values in JSON text without building the values, so that they can be passed on unchanged (rule
 * W2). All functions take text that JSON.parse has accepted, and check nothing again. They loop and don't recurse,
 * because the sender chooses the nesting, and they skip strings by searching for the closing quote, because most of a
 * payload's bytes are in strings.
 */

/** The place of a value in a text: from its first character up to `end`, which is excluded. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/**
 * The place of the value at a path of member names, from the root inwards; an empty path is the root. As in JSON.parse
 * the last of equal keys counts. Undefined if a member is missing, or if one on the way isn't an object.
 */
export function findValue(json: string, path: readonly string[]): Extent | undefined {
  let extent: Extent = { start: skipSpace(json, 0), end: json.trimEnd().length };
  for (const name of path) {
    if (json.charCodeAt(extent.start) !== openBrace) return undefined;
    const member = lastMember(json, extent.start, name);
    if (member === undefined) return undefined;
    extent = member;
  }
  return extent;
}

/**
 * The places of an array's elements, in their order.
 *
 * @param array the place of the array's opening bracket
 */
export function elementExtents(json: string, array: number): Extent[] {
  const extents: Extent[] = [];
  let at = skipSpace(json, array + 1);
  while (at < json.length && json.charCodeAt(at) !== closeBracket) {
    const end = valueEnd(json, at);
    extents.push({ start: at, end });
    at = nextEntry(json, end);
  }
  return extents;
}

/** Reads the whole object, because a later member of the same name replaces an earlier one. */
function lastMember(json: string, object: number, name: string): Extent | undefined {
  let found: Extent | undefined;
  let at = skipSpace(json, object + 1);
  while (json.charCodeAt(at) === quote) {
    const keyEnd = stringEnd(json, at);
    const colon = skipSpace(json, keyEnd);
    const start = skipSpace(json, colon + 1);
    const end = valueEnd(json, start);
    if (isKey(json.slice(at, keyEnd), name)) found = { start, end };
    at = nextEntry(json, end);
  }
  return found;
}

function isKey(quoted: string, name: string): boolean {
  // The test for escapes comes first: the key "\t" is a tab, but its text equals the name that is a backslash and a t.
  if (quoted.includes("\\")) return JSON.parse(quoted) === name;
  return quoted.length === name.length + 2 && quoted.startsWith(name, 1);
}

function nextEntry(json: string, end: number): number {
  const at = skipSpace(json, end);
  return json.charCodeAt(at) === comma ? skipSpace(json, at + 1) : at;
}

function valueEnd(json: string, start: number): number {
  switch (json.charCodeAt(start)) {
    case quote:
      return stringEnd(json, start);
    case openBrace:
    case openBracket:
      return containerEnd(json, start);
    default:
      return scalarEnd(json, start);
  }
}

/** Counts the depth instead of keeping a stack, because in valid JSON every bracket has its match. */
function containerEnd(json: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(json, at);
      continue;
    }
    at++;
    if (code === openBrace || code === openBracket) depth++;
    else if (code === closeBrace || code === closeBracket) {
      depth--;
      if (depth === 0) break;
    }
  }
  return at;
}

/**
 * The place after the closing quote, which is the first quote with an even number of backslashes before it. Runs of
 * backslashes before different quotes don't overlap, so the work is linear.
 */
function stringEnd(json: string, open: number): number {
  let close = json.indexOf('"', open + 1);
  while (close >= 0) {
    let before = close - 1;
    while (json.charCodeAt(before) === backslash) before--;
    if ((close - before) % 2 === 1) return close + 1;
    close = json.indexOf('"', close + 1);
  }
  return json.length;
}

/** A number, true, false or null ends before a comma, a closing bracket or whitespace. */
function scalarEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === comma || code === closeBrace || code === closeBracket || code <= space) break;
    at++;
  }
  return at;
}

function skipSpace(json: string, start: number): number {
  let at = start;
  // Between the tokens of valid JSON, the only characters up to the space are the four of whitespace.
  while (json.charCodeAt(at) <= space) at++;
  return at;
}

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
