import { Pattern } from "./pattern.ts";

/** A glob for names of channels or origins, as a backend or the configuration writes it. */
export interface NameGlob {
  /** The text with which every name that matches begins. */
  readonly prefix: string;
  readonly matches: (name: string) => boolean;
}

/**
 * Compiles a glob as Centrifugo takes it: `*` and `**` match any run of characters, `?` any character,
 * `[a-z]` and `[!a-z]` one of a class, `{a,b}` one of several globs, and a backslash takes the next character
 * literally. "" matches everything. A name is compared in time proportional to its length.
 *
 * @returns undefined if it isn't a glob, or too large
 */
export function compileGlob(glob: string): NameGlob | undefined {
  const [prefix = ""] = /^[^*?[{\\]*/.exec(glob) ?? [];
  if (glob === "") return { prefix, matches: () => true };
  if (!/[?[{\\]/.test(glob)) return { prefix, matches: (name) => matchesGlob(name, glob) };
  const source = patternSource(glob);
  if (source === undefined) return undefined;
  const pattern = Pattern.compile(`^(?s:${source})$`, keptMax);
  if (typeof pattern === "string") return undefined;
  return { prefix, matches: (name) => pattern.test(name) };
}

/** Whether a text matches one of the globs in a list, which is compiled once. An empty glob matches nothing. */
export function matchesAny(text: string, list: readonly string[]): boolean {
  let globs = compiled.get(list);
  if (globs === undefined) {
    globs = list.flatMap((glob) => (glob === "" ? [] : (compileGlob(glob) ?? [])));
    compiled.set(list, globs);
  }
  return globs.some(({ matches }) => matches(text));
}

const compiled = new WeakMap<readonly string[], readonly NameGlob[]>();

/** The same as a regular expression; undefined if a brace or a bracket isn't closed. */
function patternSource(glob: string): string | undefined {
  let source = "";
  let depth = 0;
  for (const [token, escaped, not, members] of glob.matchAll(tokens)) {
    if (escaped !== undefined) source += literal(escaped);
    else if (members !== undefined)
      source += `[${not === undefined ? "" : "^"}${members.replaceAll(/[\\^[\]]/g, String.raw`\$&`)}]`;
    else if (token === "**" || token === "*") source += ".*";
    else if (token === "?") source += ".";
    else if (token === "{") {
      depth++;
      source += "(?:";
    } else if (token === "}" && depth > 0) {
      depth--;
      source += ")";
    } else if (token === "," && depth > 0) source += "|";
    else if (token === "[" || token === "\\") return undefined;
    else source += literal(token);
  }
  return depth === 0 ? source : undefined;
}

/** An escaped character, a class, a run of stars, or any other character. */
const tokens = /\\(.)|\[(!)?([^\]]+)\]|\*\*|./gsu;

function literal(character: string): string {
  return character.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** A glob is used for one question, or for one list of the configuration. */
const keptMax = 8_192;

/**
 * Whether a text matches a glob: `*` matches any run of characters, and any other character matches itself. Each literal
 * piece is matched at its first possible position, which is never worse than a later one. So there is no backtracking,
 * and an attacker can't make a text that takes long.
 */
export function matchesGlob(text: string, glob: string): boolean {
  const [head = "", ...rest] = glob.split("*");
  const tail = rest.pop();
  if (tail === undefined) return text === head;
  if (!text.startsWith(head)) return false;
  let position = head.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return text.length - tail.length >= position && text.endsWith(tail);
}
