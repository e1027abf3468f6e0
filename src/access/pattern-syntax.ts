/**
 * The syntax of patterns: JavaScript's with the flag "u", without lookarounds and backreferences, which no matcher
 * without backtracking can have, and which Centrifugo's RE2 doesn't have either.
 */

import { limits } from "../limits.ts";

/** A part of a pattern. */
export type Part =
  /** Matches one character. */
  | { readonly kind: "character"; readonly matches: (character: string) => boolean }
  /** Matches a place between two characters; undefined stands for the beginning and the end of the text. */
  | { readonly kind: "place"; readonly matches: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly Part[] }
  | { readonly kind: "choice"; readonly options: readonly Part[] }
  /** `max` is Infinity for no bound. */
  | { readonly kind: "repeat"; readonly part: Part; readonly min: number; readonly max: number };

type Assertion = (before: string | undefined, after: string | undefined) => boolean;

/** A pattern's parts, or the feature for which it can't be used. */
export type ParsedPattern =
  | { readonly outcome: "parsed"; readonly part: Part }
  | {
      readonly outcome: "fault";
      readonly fault: "invalid" | "lookaround" | "backreference" | "too-deep";
    };

/** Parses the source of a pattern. */
export function parsePattern(source: string): ParsedPattern {
  if (!isValid(source)) return { outcome: "fault", fault: "invalid" };
  const around: Group[] = [];
  let group = newGroup(new Set());
  for (const [token] of source.matchAll(tokens)) {
    if (lookaround.test(token)) return { outcome: "fault", fault: "lookaround" };
    if (backreference.test(token)) return { outcome: "fault", fault: "backreference" };
    if (token.startsWith("(")) {
      if (around.length >= limits.patternDepthMax) return { outcome: "fault", fault: "too-deep" };
      around.push(group);
      group = newGroup(flagsOf(token, group.flags));
    } else if (token === ")") {
      const closed = partOf(group);
      group = around.pop() ?? newGroup(new Set());
      group.options.at(-1)?.push(closed);
    } else if (token === "|") {
      group.options.push([]);
    } else if (quantifier.test(token)) {
      const part = group.options.at(-1)?.pop();
      if (part !== undefined) group.options.at(-1)?.push(repeated(part, bounds(token)));
    } else {
      group.options.at(-1)?.push(simplePart(token, group.flags));
    }
  }
  return { outcome: "parsed", part: partOf(group) };
}

function isValid(source: string): boolean {
  try {
    void new RegExp(source, "u");
    return true;
  } catch {
    return false; // Its only error says that the pattern is invalid.
  }
}

/** The content of a pair of parentheses. */
interface Group {
  /** Those of the flags "i", "m" and "s" that hold inside. */
  readonly flags: ReadonlySet<string>;
  /** The sequences between the bars. */
  readonly options: Part[][];
}

function newGroup(flags: ReadonlySet<string>): Group {
  return { flags, options: [[]] };
}

/**
 * The part that a group stands for. Parts that match only the empty text are left out or stand once, so that each part
 * takes a step when it is written out, and counts of empty parts take no time (rule B19).
 */
function partOf({ options }: Group): Part {
  const sequences = options.map((parts): Part => ({
    kind: "sequence",
    parts: parts.filter((part) => !isEmpty(part)),
  }));
  const found = sequences.filter((part) => !isEmpty(part));
  const others = found.length < sequences.length ? [...found, empty] : found;
  const [only = empty] = others;
  return others.length > 1 ? { kind: "choice", options: others } : only;
}

const empty: Part = { kind: "sequence", parts: [] };

function isEmpty(part: Part): boolean {
  return part.kind === "sequence" && part.parts.length === 0;
}

function repeated(part: Part, times: { readonly min: number; readonly max: number }): Part {
  return times.max === 0 || isEmpty(part) ? empty : { kind: "repeat", part, ...times };
}

/** The flags inside a group that begins so, such as `(?i-s:`. */
function flagsOf(token: string, outside: ReadonlySet<string>): ReadonlySet<string> {
  const [, set, cleared = ""] = /^\(\?([ims]*)(?:-([ims]*))?:$/.exec(token) ?? [];
  if (set === undefined) return outside;
  return new Set([...outside, ...set.split("")].filter((flag) => !cleared.includes(flag)));
}

/** A part that isn't made of others. */
function simplePart(token: string, flags: ReadonlySet<string>): Part {
  switch (token) {
    case "^":
      return { kind: "place", matches: (before) => isEdge(before, flags) };
    case "$":
      return { kind: "place", matches: (_, after) => isEdge(after, flags) };
    case String.raw`\b`:
    case String.raw`\B`: {
      const isWord = oneCharacter(String.raw`\w`, flags);
      const wanted = token === String.raw`\b`;
      const matches: Assertion = (before, after) =>
        ((before !== undefined && isWord(before)) !== (after !== undefined && isWord(after))) ===
        wanted;
      return { kind: "place", matches };
    }
    default:
      return { kind: "character", matches: oneCharacter(token, flags) };
  }
}

function isEdge(character: string | undefined, flags: ReadonlySet<string>): boolean {
  return character === undefined || (flags.has("m") && /[\n\r\u2028\u2029]/.test(character));
}

/**
 * Gives the comparison of a token with one character. A regular expression of the runtime makes it, so a class, an
 * escape and a flag mean the same as there.
 */
function oneCharacter(token: string, flags: ReadonlySet<string>): (character: string) => boolean {
  const set = ["i", "s"].filter((flag) => flags.has(flag)).join("");
  const expression = new RegExp(`^(?:${token})$`, `${set}u`);
  return (character) => expression.test(character);
}

function bounds(token: string): { readonly min: number; readonly max: number } {
  if (token.startsWith("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
  if (token.startsWith("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
  if (token.startsWith("?")) return { min: 0, max: 1 };
  const [, min = "", comma = "", max = ""] = /^\{(\d+)(,?)(\d*)\}/.exec(token) ?? [];
  if (comma === "") return { min: Number(min), max: Number(min) };
  return { min: Number(min), max: max === "" ? Number.POSITIVE_INFINITY : Number(max) };
}

/**
 * The tokens of a pattern: a whole character class, a whole escape, the beginning of a group, a quantifier, or any other
 * character. So nothing inside a class or after a backslash is mistaken for another token.
 */
const tokens =
  /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\k<[^>]*>|\\.|\((?:\?(?:<[=!]|<[^>]*>|[^:=!<)]*[:=!]))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|./gsu;
const lookaround = /^\(\?<?[=!]$/;
const backreference = /^\\[1-9k]/;
const quantifier = /^[*+?{]/;
