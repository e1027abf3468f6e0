import { placeOf } from "../flat-names.ts";
import { optionAt } from "../options.ts";
import { type Path, parsePath } from "../tree.ts";

/** What the command line of Centrifugo says. */
export interface CommandLine {
  /** The path of the configuration in the container; absent if no flag names it. */
  readonly configPath?: string;
  /** The flags of options with their values; a switch without one has "true". */
  readonly flags: readonly {
    readonly flag: string;
    /** As in a document, where a flat name is a path of its own. */
    readonly path: Path;
    readonly value: string;
  }[];
  /** Sentences about what can't be read, which quote no value. */
  readonly unread: readonly string[];
}

/**
 * Reads the words of a command line, which may begin with the program, and may be a shell's with one simple command.
 *
 * @returns undefined if another program is run, or a longer script
 */
export function readCommandLine(words: readonly string[]): CommandLine | undefined {
  const script = scriptOf(words);
  const plain = script === undefined ? words : wordsOfScript(script);
  const [program] = plain;
  if (program === undefined) return script === undefined ? { flags: [], unread: [] } : undefined;
  if (program.startsWith("-")) return readFlags(plain);
  return /(?:^|\/)centrifugo$/.test(program) ? readFlags(plain.slice(1)) : undefined;
}

/** The words of a script that is one command; none if it is more. */
function wordsOfScript(script: string): readonly string[] {
  return /[;&|<>`$()\n]/.test(script.trim()) ? [] : splitWords(script.replace(/^\s*exec\s/, ""));
}

/** Splits a command line into words as a shell does. */
export function splitWords(line: string): readonly string[] {
  const found = line.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/gs);
  return Array.from(found, ([word]) =>
    word.replaceAll(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs,
      (_, double?: string, single?: string, one?: string) =>
        double === undefined ? (single ?? one ?? "") : double.replaceAll(/\\(["\\$`])/g, "$1"),
    ),
  );
}

/** The script of `sh -c SCRIPT`; undefined for other command lines. */
function scriptOf([program = "", option = "", script]: readonly string[]): string | undefined {
  const isShell = /(?:^|\/)(?:ba|da|a)?sh$/.test(program);
  return isShell && /^-[a-z]*c$/.test(option) ? script : undefined;
}

function readFlags(words: readonly string[]): CommandLine {
  const flags: CommandLine["flags"][number][] = [];
  const unread: string[] = [];
  let configPath: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const flag = flagOf(word);
    if (flag === undefined) {
      unread.push("has a word that is no flag, so that it may be another command than the server");
      continue;
    }
    const path = pathOfFlag(flag.name);
    const kind = path === undefined ? undefined : kindOf(path);
    const takesNext = flag.value === undefined && kind !== "boolean" && path !== undefined;
    const value = flag.value ?? (takesNext ? words[++at] : "true");
    if (flag.name === "config") configPath = value;
    else if (path === undefined || kind === undefined || value === undefined) {
      unread.push(`has the flag ${flag.shown}, which isn't read`);
      // What follows is probably its value.
      if (flag.value === undefined && words[at + 1]?.startsWith("-") === false) at++;
    } else flags.push({ flag: flag.shown, path, value });
  }
  return { ...(configPath !== undefined && { configPath }), flags, unread };
}

interface Flag {
  readonly name: string;
  /** The flag without its value. */
  readonly shown: string;
  readonly value?: string;
}

function flagOf(word: string): Flag | undefined {
  const [, long, longValue] = /^--([\w.-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (long !== undefined)
    return { name: long, shown: `--${long}`, ...(longValue !== undefined && { value: longValue }) };
  const [, short, shortValue = ""] = /^-([a-z])(?:=?(.*))$/is.exec(word) ?? [];
  if (short === undefined) return undefined;
  const name = shorthands.get(short) ?? short;
  return { name, shown: `-${short}`, ...(shortValue !== "" && { value: shortValue }) };
}

/** Those of version 6 and of versions 4 and 5. */
const shorthands: ReadonlyMap<string, string> = new Map([
  ["c", "config"],
  ["a", "http_server.address"],
  ["p", "http_server.port"],
  ["e", "engine"],
  ["n", "name"],
]);

/** The path of a flag's option, as in a document; undefined if it is none. */
function pathOfFlag(name: string): Path | undefined {
  if (name === "config") return [name];
  const lower = name.toLowerCase();
  if (placeOf(lower) !== undefined) return [lower];
  const path = lower.split(".");
  return optionAt(path) !== undefined || optionAt(path.slice(0, 1)) !== undefined
    ? path
    : undefined;
}

/** Of options that aren't known more closely a text. */
function kindOf(path: Path): string | undefined {
  if (path[0] === "config") return "text";
  const place = path.length === 1 ? placeOf(String(path[0])) : undefined;
  const option = optionAt(place === undefined ? path : parsePath(place));
  if (option?.kind === "section") return undefined;
  if (option !== undefined) return option.kind;
  return switches.test(String(path.at(-1))) ? "boolean" : "text";
}

/** Flags of sections from which nothing is taken over. */
const switches = /^(?:tls|.+_tls|tls_external|.+_tls_disable|enabled|insecure|external)$/;
