import { existsSync, lstatSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { createScanner } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { parseDocument as parseYaml } from "yaml";
import { jsonFault } from "../../src/config/json-fault.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { fileLimits } from "./file-limits.ts";
import { readTextFile } from "./text-file.ts";
import { type Shell, usageFailure } from "../shell.ts";

/** The object in a file, or why there is none: a sentence that quotes nothing of the file (rule A7). */
export type ParsedFile =
  | { readonly outcome: "document"; readonly document: JsonObject }
  | { readonly outcome: "bad"; readonly problem: string };

/**
 * Parses a file of configuration: JSON, JSON with comments, YAML or TOML, as the end of its name says.
 *
 * @param name of the file; JSON or YAML is assumed if its end says nothing
 */
export function parseFile(name: string, text: string): ParsedFile {
  const parsed = parserOf(name)(text.replace(/^\uFEFF/, ""));
  if (parsed.outcome === "bad") return { outcome: "bad", problem: `${name}: ${parsed.problem}` };
  if (isJsonObject(parsed.value)) return { outcome: "document", document: parsed.value };
  return { outcome: "bad", problem: `${name} isn't an object of sections and keys` };
}

/**
 * Reads and parses a file.
 *
 * @throws {Failure} if it can't be read or parsed
 */
export function readDocument(file: string, shell: Shell): JsonObject {
  const path = resolve(shell.folder, file);
  if (!existsSync(path)) throw usageFailure(`${file} doesn't exist`);
  const parsed = parseFile(basename(file), readText(path, file, fileLimits.documentBytesMax));
  if (parsed.outcome === "bad") throw usageFailure(parsed.problem);
  return parsed.document;
}

/**
 * Reads a text that a person wrote.
 *
 * @param shown    the file's name on the command line
 * @param bytesMax a larger file is refused
 * @throws {Failure} if it can't be read, or isn't UTF-8
 */
export function readText(path: string, shown: string, bytesMax?: number): string {
  const read = readTextFile(path, shown, bytesMax);
  if (read.outcome === "bad") throw usageFailure(read.problem);
  return read.text;
}

/** The first of some files that is in a folder, also as a link that leads nowhere; undefined if none is. */
export function firstOf(names: readonly string[], folder: string): string | undefined {
  return names.find((name) => isThere(join(folder, name)));
}

/** Whether there is anything at a path, also a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

type ParsedValue =
  | { readonly outcome: "value"; readonly value: JsonValue }
  | { readonly outcome: "bad"; readonly problem: string };

function parserOf(name: string): (text: string) => ParsedValue {
  if (/\.toml$/i.test(name)) return toml;
  if (/\.jsonc?$/i.test(name)) return jsonWithComments;
  return yaml;
}

function jsonWithComments(text: string): ParsedValue {
  const { plain, depth } = withoutComments(text);
  if (depth > fileLimits.documentDepthMax) return tooDeep;
  try {
    return { outcome: "value", value: parsedJson(plain) };
  } catch {
    const { line, column } = jsonFault(plain);
    return { outcome: "bad", problem: `not JSON: see line ${line}, column ${column}` };
  }
}

/** What the parsers' recursion, and that of those who use the values, may not have a stack for. */
const tooDeep: ParsedValue = {
  outcome: "bad",
  problem: `its values are nested more than ${fileLimits.documentDepthMax} deep`,
};

/**
 * Turns comments and commas before a closing bracket into blanks, so that lines and columns stay, and counts how deep the
 * brackets are nested.
 */
function withoutComments(text: string): { readonly plain: string; readonly depth: number } {
  const scanner = createScanner(text);
  const parts: string[] = [];
  let [open, depth, comma] = [0, 0, -1];
  const next = (): number => scanner.scan();
  for (let kind = next(); kind !== tokenKinds.end; kind = next()) {
    let part = text.slice(
      scanner.getTokenOffset(),
      scanner.getTokenOffset() + scanner.getTokenLength(),
    );
    if (tokenKinds.opening.has(kind)) depth = Math.max(depth, ++open);
    if (tokenKinds.closing.has(kind)) {
      open--;
      if (comma >= 0) parts[comma] = " ";
    }
    // A comment without an end is no comment.
    const fault: number = scanner.getTokenError();
    if (tokenKinds.comments.has(kind) && fault === 0) part = blank(part);
    if (!tokenKinds.between.has(kind)) comma = kind === tokenKinds.comma ? parts.length : -1;
    parts.push(part);
  }
  return { plain: parts.join(""), depth };
}

/** Kinds of tokens of jsonc-parser, which has their names as a type alone. */
const tokenKinds = {
  opening: new Set<number>([1, 3]),
  closing: new Set<number>([2, 4]),
  comma: 5,
  comments: new Set<number>([12, 13]),
  /** Comments, line breaks and blanks. */
  between: new Set<number>([12, 13, 14, 15]),
  end: 17,
} as const;

function blank(part: string): string {
  return part.replaceAll(/[^\n]/g, " ");
}

function toml(text: string): ParsedValue {
  try {
    return { outcome: "value", value: parsedJson(JSON.stringify(parseToml(text))) };
  } catch (error) {
    // The parser bounds the depth of brackets, and not that of dotted keys.
    if (error instanceof RangeError) return tooDeep;
    if (!(error instanceof TomlError)) throw error;
    return {
      outcome: "bad",
      problem: `not TOML: see line ${error.line}, column ${error.column}`,
    };
  }
}

/** JSON is YAML, too, so that this is for names that say nothing. */
function yaml(text: string): ParsedValue {
  if (isDeepYaml(text)) return tooDeep;
  const document = parseYaml(text, { merge: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    return { outcome: "bad", problem: `not YAML: see line ${line}, column ${col}` };
  }
  let json: string;
  try {
    json = JSON.stringify(document.toJS() ?? null);
  } catch {
    return { outcome: "bad", problem: "its anchors are within themselves, or used too often" };
  }
  // Levels by indentation, for which the parser may have had a stack or not.
  const { depth } = withoutComments(json);
  return depth > fileLimits.documentDepthMax
    ? tooDeep
    : { outcome: "value", value: parsedJson(json) };
}

/** Whether a text is nested too deep for the parser of YAML, which would end the process; brackets in texts count as well. */
function isDeepYaml(text: string): boolean {
  if (new RegExp(`^[ \\t?:-]{${fileLimits.yamlIndentMax + 1}}`, "m").test(text)) return true;
  let [open, depth] = [0, 0];
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open = Math.max(0, open + (bracket === "[" || bracket === "{" ? 1 : -1));
    depth = Math.max(depth, open);
  }
  return depth > fileLimits.documentDepthMax;
}

function parsedJson(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text);
  return value;
}
