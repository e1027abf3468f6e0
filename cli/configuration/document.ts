import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parse as parseToml, TomlError } from "smol-toml";
import { parseDocument as parseYaml } from "yaml";
import { jsonFault } from "../../src/config/json-fault.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { encodingFault, textOf } from "./text-file.ts";
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
  const parsed = parseFile(basename(file), readText(path, file));
  if (parsed.outcome === "bad") throw usageFailure(parsed.problem);
  return parsed.document;
}

/**
 * Reads a text that a person wrote.
 *
 * @param shown the file's name on the command line
 * @throws {Failure} if it isn't UTF-8
 */
export function readText(path: string, shown: string): string {
  const fault = encodingFault(path, shown);
  if (fault !== undefined) throw usageFailure(fault);
  return textOf(path);
}

/** The first of some files that is in a folder; undefined if none is. */
export function firstOf(names: readonly string[], folder: string): string | undefined {
  return names.find((name) => existsSync(join(folder, name)));
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
  const plain = withoutComments(text);
  try {
    return { outcome: "value", value: parsedJson(plain) };
  } catch {
    const { line, column } = jsonFault(plain);
    return { outcome: "bad", problem: `not JSON: see line ${line}, column ${column}` };
  }
}

/** Turns comments and commas before a closing bracket into blanks, so that lines and columns stay. */
function withoutComments(text: string): string {
  return text
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
      part.startsWith('"') ? part : blank(part),
    )
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[\]}])/g, (part) => (part === "," ? " " : part));
}

function blank(part: string): string {
  return part.replaceAll(/[^\n]/g, " ");
}

function toml(text: string): ParsedValue {
  try {
    return { outcome: "value", value: parsedJson(JSON.stringify(parseToml(text))) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return {
      outcome: "bad",
      problem: `not TOML: see line ${error.line}, column ${error.column}`,
    };
  }
}

/** JSON is YAML, too, so that this is for names that say nothing. */
function yaml(text: string): ParsedValue {
  const document = parseYaml(text, { merge: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    return { outcome: "bad", problem: `not YAML: see line ${line}, column ${col}` };
  }
  return { outcome: "value", value: parsedJson(JSON.stringify(document.toJS() ?? null)) };
}

function parsedJson(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text);
  return value;
}
