import type { Section } from "./section.ts";
import { readText } from "./fields.ts";

/**
 * Reads a pattern for strings that an attacker may choose, such as channel names. So matching must be fast for every
 * string.
 *
 * The pattern has the flag "u", so that one character of a string is one character of the pattern. It never has "g" or
 * "y", which keep state between matches.
 *
 * @returns undefined if there is no pattern, or if it can't be compiled
 */
export function readPattern(section: Section, name: string): RegExp | undefined {
  const source = readText(section, name, { default: "" });
  if (source === "") return undefined;
  const pattern = compile(source);
  const fault = pattern === undefined ? "invalid" : patternFault(source);
  if (fault !== undefined) section.wrongValue(name, source, patternProblems[fault]);
  return pattern;
}

function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined; // Its only error says that the pattern is invalid.
  }
}

const patternProblems: Readonly<Record<PatternFault | "invalid", string>> = {
  invalid: "is not a valid JavaScript regular expression",
  lookaround: "has a lookaround, which is not supported",
  backreference: "has a backreference, which is not supported",
  "nested-repetition":
    "repeats a group that contains a repetition or alternatives: matching a name could take exponential time",
};

/** A feature that RE2 doesn't have, or one that could make matching a single name take exponential time. */
type PatternFault = "lookaround" | "backreference" | "nested-repetition";

/**
 * Finds the feature that makes a JavaScript pattern unfit for names that an attacker chooses. Centrifugo's patterns are
 * for RE2, which takes time in proportion to the name. JavaScript backtracks: it tries one way to match after the
 * other, and a repeated group that can itself match in several ways doubles their number with every character.
 * `^([a-z]+)+$` takes years for 60 letters.
 *
 * So a repeated group may contain neither alternatives nor a repetition of varying length, except in lists such as
 * `(,\d+)*`, see {@link isList}. Some harmless patterns are refused as well, because it would take more than this to
 * tell `(foo|bar)+` from `(a|aa)+`. Repetitions side by side, as in `.*.*x`, are allowed: each of them multiplies the
 * time by at most the length of the name.
 *
 * @param source a pattern that is valid with the flag "u", so that all its brackets and braces are closed
 */
export function patternFault(source: string): PatternFault | undefined {
  let group = newGroup();
  const around: Group[] = [];
  /** The group that has just been closed, to which a quantifier would apply. */
  let closed: Group | undefined;
  for (const [token] of source.matchAll(tokens)) {
    if (lookaround.test(token)) return "lookaround";
    if (backreference.test(token)) return "backreference";
    const last = closed;
    closed = undefined;
    if (token.startsWith("(")) {
      around.push(group);
      group = newGroup();
    } else if (token === ")") {
      closed = group;
      group = around.pop() ?? newGroup();
      include(group, closed);
    } else if (token === "|") {
      group.alternatives = true;
    } else if (quantifier.test(token)) {
      const { min, max } = bounds(token);
      if (last !== undefined && max > 1 && varies(last) && !isList(last))
        return "nested-repetition";
      if (min !== max) group.repetitions++;
      const atom = group.atoms.at(-1);
      if (atom !== undefined) atom.once = false;
    } else {
      group.atoms.push({ text: token, once: true });
    }
  }
  return undefined;
}

/** The content of a pair of parentheses, including the groups inside. */
interface Group {
  alternatives: boolean;
  /** The number of repetitions of varying length. */
  repetitions: number;
  readonly atoms: Atom[];
}

/** A part of the pattern that matches one character or a position. */
interface Atom {
  readonly text: string;
  /** The atom stands in the group itself, not in a group inside, and isn't repeated. */
  once: boolean;
}

function newGroup(): Group {
  return { alternatives: false, repetitions: 0, atoms: [] };
}

function include(outer: Group, inner: Group): void {
  outer.alternatives ||= inner.alternatives;
  outer.repetitions += inner.repetitions;
  outer.atoms.push(...inner.atoms.map(({ text }) => ({ text, once: false })));
}

function varies({ alternatives, repetitions }: Group): boolean {
  return alternatives || repetitions > 0;
}

/**
 * Whether a group that varies may be repeated all the same: it begins or ends with a character that nothing else in it
 * matches, and only one part of it varies. Then there is only one way to divide a string into what the rounds match.
 */
function isList({ alternatives, repetitions, atoms }: Group): boolean {
  if (alternatives || repetitions > 1) return false;
  return [atoms.at(0), atoms.at(-1)].some(
    (end) =>
      end?.once === true &&
      literal.test(end.text) &&
      atoms.every((atom) => atom === end || !matches(atom, end.text.replace(/^\\/, ""))),
  );
}

/**
 * Whether an atom matches a character, with flags under which it matches more and never less, because a group such as
 * `(?i:…)` may set flags for the atom.
 */
function matches({ text }: Atom, character: string): boolean {
  return new RegExp(`^${text}$`, "isu").test(character);
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
 * The parts of a pattern: a whole character class, a whole escape, the beginning of a group, a quantifier, or any other
 * character. So nothing inside a class or after a backslash is mistaken for another part.
 */
const tokens =
  /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\k<[^>]*>|\\.|\((?:\?(?:<[=!]|<[^>]*>|[^:=!<)]*[:=!]))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|./gsu;
const lookaround = /^\(\?<?[=!]$/;
const backreference = /^\\[1-9k]/;
const quantifier = /^[*+?{]/;
const literal = /^(?:[^\\[.^$]|\\[\^$\\.*+?()[\]{}|/])$/u;
