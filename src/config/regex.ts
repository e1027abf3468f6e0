import { Pattern, type PatternFault } from "../access/pattern.ts";
import { limits } from "../limits.ts";
import { readText } from "./fields.ts";
import type { Section } from "./section.ts";

/**
 * Reads a pattern for texts that an attacker may choose, such as channel names.
 *
 * @returns undefined if there is no pattern, or if it can't be used
 */
export function readPattern(section: Section, name: string): Pattern | undefined {
  const source = readText(section, name);
  if (source === "") return undefined;
  const pattern = Pattern.compile(source);
  if (pattern instanceof Pattern) return pattern;
  section.wrongValue(name, source, patternProblems[pattern]);
  return undefined;
}

const patternProblems: Readonly<Record<PatternFault, string>> = {
  invalid: "is not a valid JavaScript regular expression",
  lookaround: "has a lookaround, which is not supported",
  "too-deep": `has more than ${limits.patternDepthMax} parentheses within each other`,
  backreference: "has a backreference, which is not supported",
  "too-large": `takes more than ${limits.patternStepsMax} steps when its repetitions are written out: write smaller counts`,
};
