import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { JsonObject, JsonValue } from "../../src/protocol/wire-value.ts";
import { firstOf, parseFile, readDocument, readText } from "../configuration/document.ts";
import { wranglerFiles } from "../configuration/wrangler.ts";
import { packageName } from "../../src/version.ts";
import { type Shell, usageFailure } from "../shell.ts";
import { type Additions, exportedClasses, isComplete, missingFrom, objectIn } from "./additions.ts";
import { editJson } from "./edit-json.ts";
import { editToml } from "./edit-toml.ts";

/** What was done to a project that exists. */
interface AddedToProject {
  readonly file: string;
  readonly additions: Additions;
  /** Sentences and lines on what is left to do by hand; none if the project is complete. */
  readonly left: readonly string[];
}

/**
 * Writes the objects of Dormouse into a project's wrangler file, unless they are there. Doing it again changes nothing.
 *
 * @param folder      of the project, as on the command line
 * @param environment of the file; undefined for the Worker without one
 * @throws {Failure} if there is no such file, or if it has something else in their place; nothing is written then
 */
export function addToProject(
  folder: string,
  environment: string | undefined,
  shell: Shell,
): AddedToProject {
  const path = resolve(shell.folder, folder);
  const name = firstOf(wranglerFiles, path);
  if (name === undefined)
    throw usageFailure(
      `${folder} has none of ${wranglerFiles.join(", ")}: it is no project to add to`,
    );
  const file = join(folder, name);
  const text = readText(join(path, name), file);
  const parsed = parseFile(name, text);
  if (parsed.outcome === "bad") throw usageFailure(parsed.problem);
  const { document } = parsed;
  const additions = missingFrom(document, environment);
  if (!isComplete(additions)) {
    const edit = name.endsWith(".toml") ? editToml : editJson;
    writeFileSync(join(path, name), edit(text, document, additions));
  }
  return { file, additions, left: leftToDo(path, document, additions, shell) };
}

/** What the program doesn't do, because it is in the project's own code and packages. */
function leftToDo(
  folder: string,
  document: JsonObject,
  { others }: Additions,
  shell: Shell,
): readonly string[] {
  return [
    ...packageLeft(folder, shell),
    ...exportsLeft(folder, document["main"]),
    ...others.map(
      (one) => `The environment ${one} inherits no bindings: dormouse init --existing --env ${one}`,
    ),
  ];
}

function packageLeft(folder: string, shell: Shell): readonly string[] {
  const file = join(folder, "package.json");
  const content = existsSync(file) ? readDocument(file, shell) : {};
  const all = { ...objectIn(content["devDependencies"]), ...objectIn(content["dependencies"]) };
  return all[packageName] === undefined ? [`Install the package: npm install ${packageName}`] : [];
}

function exportsLeft(folder: string, main: JsonValue | undefined): readonly string[] {
  const place = textIn(main, "the Worker's main module");
  const file = join(folder, place);
  const text = existsSync(file) ? readText(file, place) : "";
  const missing = exportedClasses.filter((one) => !new RegExp(`\\b${one}\\b`).test(text));
  if (missing.length === 0) return [];
  return [`Add to ${place}: export { ${missing.join(", ")} } from "${packageName}";`];
}

function textIn(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
