import { parseEnv } from "node:util";
import { interpolated, type Variables } from "./interpolation.ts";

/** The variables of a file, and what they lack. */
export interface FileVariables {
  readonly variables: Readonly<Record<string, string>>;
  /** Variables whose values need others, by their names, and variables that have no value in the file. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
  /** The same for those of which a default was taken. */
  readonly byDefault: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads a file of variables as Compose does. A line with a name alone takes the value of the surroundings.
 *
 * @param given the surroundings
 * @param isRaw whether values stay as they are
 */
export function variablesOfFile(text: string, given: Variables, isRaw: boolean): FileVariables {
  const variables: Record<string, string> = {};
  const missing = new Map<string, readonly string[]>();
  const byDefault = new Map<string, readonly string[]>();
  for (const { name, value, isLiteral } of isRaw ? rawLines(text) : linesOf(text)) {
    const read = isLiteral
      ? { text: value, missing: [], byDefault: [] }
      : interpolated(value, { ...variables, ...given });
    if (read.missing.length > 0) missing.set(name, read.missing);
    else variables[name] = read.text;
    if (read.byDefault.length > 0) byDefault.set(name, read.byDefault);
  }
  for (const [, name = ""] of text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*\r?$/gm)) {
    const value = given[name];
    if (value === undefined) missing.set(name, [name]);
    else variables[name] = value;
  }
  return { variables, missing, byDefault };
}

interface Line {
  readonly name: string;
  readonly value: string;
  /** Whether a `$` in the value is one. */
  readonly isLiteral: boolean;
}

/** The variables in the order of their lines, in which one may need those before it. */
function linesOf(text: string): readonly Line[] {
  const parsed = new Map(Object.entries(parseEnv(text)));
  return Array.from(text.matchAll(assignment), ([, name = "", quote]) => ({
    name,
    value: parsed.get(name) ?? "",
    isLiteral: quote === "'",
  }));
}

const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(['"])?/gm;

function rawLines(text: string): readonly Line[] {
  return Array.from(
    text.matchAll(/^[ \t]*([A-Za-z_]\w*)=(.*?)\r?$/gm),
    ([, name = "", value = ""]) => ({ name, value, isLiteral: true }),
  );
}
