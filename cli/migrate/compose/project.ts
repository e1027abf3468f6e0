import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../src/protocol/wire-value.ts";
import { type ParsedFile, parseFile } from "../../configuration/document.ts";
import { readTextFile } from "../../configuration/text-file.ts";

/** A part of a compose file, and where its relative paths begin. */
export interface Part {
  readonly values: JsonObject;
  /** The file that it is in, as the person names it. */
  readonly file: string;
  readonly folder: string;
}

/** A service with everything that it extends, the last part above the others, or why it isn't whole. */
export interface Service {
  readonly name: string;
  readonly parts: readonly Part[];
  readonly unread: readonly string[];
}

/** A compose file, with the parts of the files that it includes. */
export interface Project {
  readonly services: ReadonlyMap<string, Part>;
  /** `configs` and `secrets` of the top level. */
  readonly configs: ReadonlyMap<string, Part>;
  readonly secrets: ReadonlyMap<string, Part>;
  readonly unread: readonly string[];
}

/** Reads what a compose file has at its top level. */
export function projectOf(document: JsonObject, file: string, folder: string, depth = 0): Project {
  const parts = (name: string) => {
    const section = document[name] ?? {};
    return (isJsonObject(section) ? Object.entries(section) : []).flatMap(([key, values]) =>
      isJsonObject(values) ? [[key, { values, file, folder }] as const] : [],
    );
  };
  const included = includesOf(document).map((include) => {
    const path = typeof include === "string" ? include : undefined;
    const read = path === undefined ? undefined : readBeside(path, file, folder);
    if (path === undefined || depth === depthMax || read?.outcome !== "document")
      return {
        problem: `${file} includes ${path ?? "files with settings of their own"}, which wasn't read`,
      };
    const at = resolve(folder, path);
    return projectOf(read.document, besideOf(file, path), dirname(at), depth + 1);
  });
  const projects = included.filter((one) => "services" in one);
  const all = (name: "services" | "configs" | "secrets") =>
    new Map([...projects.flatMap((one) => Array.from(one[name])), ...parts(name)]);
  return {
    services: all("services"),
    configs: all("configs"),
    secrets: all("secrets"),
    unread: included.flatMap((one) => ("problem" in one ? [one.problem] : one.unread)),
  };
}

function includesOf({ include = [] }: JsonObject): readonly JsonValue[] {
  const list = isJsonArray(include) ? include : [include];
  return list.flatMap((one) => {
    if (!isJsonObject(one)) return [one];
    const { path = null, ...others } = one;
    if (Object.keys(others).length > 0) return [null];
    return isJsonArray(path) ? path : [path];
  });
}

/** Gathers a service with what it extends, the extended services first. */
export function serviceOf(
  name: string,
  part: Part,
  project: Project,
  seen: readonly string[] = [],
): Service {
  const { extends: extended } = part.values;
  if (extended === undefined) return { name, parts: [part], unread: [] };
  const whole: JsonObject = isJsonObject(extended) ? extended : { service: extended };
  const { service, file } = whole;
  const key = `${JSON.stringify(file ?? part.file)} ${JSON.stringify(service)}`;
  const base =
    typeof service !== "string" || seen.includes(key) || seen.length === depthMax
      ? undefined
      : baseOf(service, file, part, project);
  if (base === undefined || typeof service !== "string")
    return {
      name,
      parts: [part],
      unread: [`${name} in ${part.file} extends a service that wasn't read`],
    };
  const below = serviceOf(service, base.part, base.project, [...seen, key]);
  return { name, parts: [...below.parts, part], unread: below.unread };
}

function baseOf(
  service: string,
  file: JsonValue | undefined,
  part: Part,
  project: Project,
): { readonly part: Part; readonly project: Project } | undefined {
  if (file === undefined) {
    const found = project.services.get(service);
    return found && { part: found, project };
  }
  if (typeof file !== "string") return undefined;
  const read = readBeside(file, part.file, part.folder);
  if (read?.outcome !== "document") return undefined;
  const other = projectOf(
    read.document,
    besideOf(part.file, file),
    dirname(resolve(part.folder, file)),
  );
  const found = other.services.get(service);
  return found && { part: found, project: other };
}

/** Parses a file that another one names; undefined if there is none. */
function readBeside(path: string, file: string, folder: string): ParsedFile | undefined {
  const at = resolve(folder, path);
  if (!existsSync(at)) return undefined;
  const shown = besideOf(file, path);
  const read = readTextFile(at, shown);
  return read.outcome === "bad" ? read : parseFile(basename(at), read.text);
}

/** A path beside a file, as a person would name it. */
export function besideOf(file: string, path: string): string {
  return /^(?:[/\\~]|[a-z]:)/i.test(path) ? path : join(dirname(file), path);
}

/** Files and services that lead on to others. */
const depthMax = 8;
