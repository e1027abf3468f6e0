import type { Section } from "./section.ts";
import { readText } from "./fields.ts";

/**
 * Reads a pattern that texts of strangers' choice are held against, and which therefore has to be quick with any of them.
 *
 * Flag "u", so that one character of a text is one character of the pattern; never "g" or "y", which remember.
 *
 * @returns undefined when there is none, or a bad one
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
  invalid: "is not a regular expression of JavaScript",
  lookaround: "has a lookaround, which is not supported",
  backreference: "has a backreference, which is not supported",
  "nested-repetition":
    "repeats a group in which something is repeated or alternative: checking a name could take for ever",
};

/** What a pattern has that RE2's don't have, or that could keep the check of one name busy for ever. */
type PatternFault = "lookaround" | "backreference" | "nested-repetition";

/**
 * Finds what makes a pattern of JavaScript's unfit for names that strangers choose. Centrifugo's patterns are RE2's,
 * which takes time in proportion to the name. JavaScript tries one way to match after the other, and a repeated group
 * that can itself match in several ways doubles them with every character: `^([a-z]+)+$` needs years for 60 letters.
 *
 * So a repeated group may hold neither alternatives nor a repetition of varying length, but for lists such as
 * `(,\d+)*`: see {@link isList}. Some harmless patterns are refused as well; telling `(foo|bar)+` from `(a|aa)+` takes
 * more than this. Repetitions side by side, as in `.*.*x`, are let through: each of them multiplies the time by the
 * name's length at most.
 *
 * @param source a pattern that is valid with the flag "u": all brackets and braces in it are closed
 */
export function patternFault(source: string): PatternFault | undefined {
  let group = newGroup();
  const around: Group[] = [];
  /** The group that was closed just now, to which a quantifier would apply. */
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

/** What stands between two parentheses, groups within it included. */
interface Group {
  alternatives: boolean;
  /** Repetitions of varying length. */
  repetitions: number;
  readonly atoms: Atom[];
}

/** What matches one character, or a place. */
interface Atom {
  readonly text: string;
  /** It stands in the group itself and isn't repeated. */
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
 * Whether a group that varies can be repeated all the same, because there is one way only to divide a text into what
 * each round matches: it begins or ends with a character that nothing else in it matches, and one part of it varies.
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

/** Whatever flags hold there, for `(?i:…)` may be around it: these make it match more and never less. */
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
 * A pattern's parts: a class as a whole, an escape with all that belongs to it, the beginning of a group, a quantifier,
 * any other character. So nothing in a class or after a backslash is mistaken for another part.
 */
const tokens =
  /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\k<[^>]*>|\\.|\((?:\?(?:<[=!]|<[^>]*>|[^:=!<)]*[:=!]))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|./gsu;
const lookaround = /^\(\?<?[=!]$/;
const backreference = /^\\[1-9k]/;
const quantifier = /^[*+?{]/;
const literal = /^(?:[^\\[.^$]|\\[\^$\\.*+?()[\]{}|/])$/u;
