import { type PatternFault, patternFault } from "./linear-pattern.ts";
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
