import { join, resolve } from "node:path";
import { firstOf, isThere, parseFile } from "../configuration/document.ts";
import { fileLimits } from "../configuration/file-limits.ts";
import {
  parsedText,
  type ProjectFile,
  projectFile,
  projectText,
  rewrite,
} from "../configuration/project-file.ts";
import { settingsReport, workerSettings } from "../configuration/worker-settings.ts";
import { wranglerFiles } from "../configuration/wrangler.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { packageName } from "../../src/version.ts";
import { refusal, type Shell, usageFailure } from "../shell.ts";
import { type Additions, exportedClasses, isComplete, missingFrom } from "./additions.ts";
import { editJson, editToml, tablesOf } from "./edit-configuration.ts";
import { FilePart } from "./file-part.ts";

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
 * @throws {Failure} if a file of the project isn't there, can't be read, or has something else in their place; nothing is
 *   written then
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
  const file = projectFile(path, name, join(folder, name));
  const content = parsedText(file.shown, file.text);
  const document = new FilePart(content, file.shown);
  const additions = missingFrom(document, environment);
  const left = [
    ...leftToDo(path, folder, document, additions),
    ...settingsLeft(name, content, environment),
  ];
  if (!isComplete(additions)) {
    const text = name.endsWith(".toml")
      ? editedToml(file, document, additions)
      : editedJson(file, document, additions);
    rewrite([{ ...file, text }]);
  }
  return { file: file.shown, additions, left };
}

function editedToml(file: ProjectFile, document: FilePart, additions: Additions): string {
  const tables = tablesOf(document, additions);
  const edited = editToml(file.text, tables);
  if (lacksNothing(file, edited, additions)) return edited;
  throw refusal(
    `${file.shown} has bindings or migrations in arrays, to which init can't add. Write them as tables, or add to them ` +
      `what these say:\n\n${tables}`,
  );
}

function editedJson(file: ProjectFile, document: FilePart, additions: Additions): string {
  const edited = editJson(file.text, document, additions);
  if (lacksNothing(file, edited, additions)) return edited;
  throw refusal(
    `${file.shown} has a key of durable_objects, exports or migrations twice, so that init can't add to it: keep one`,
  );
}

/** Whether an edited text is well-formed, and has all that was missing. */
function lacksNothing({ shown }: ProjectFile, text: string, { environment }: Additions): boolean {
  const parsed = parseFile(shown, text);
  return (
    parsed.outcome === "document" &&
    isComplete(missingFrom(new FilePart(parsed.document, shown), environment))
  );
}

/** What the program doesn't do, because it is in the project's own code and packages. */
function leftToDo(
  path: string,
  folder: string,
  document: FilePart,
  { others }: Additions,
): readonly string[] {
  return [
    ...packageLeft(
      join(path, "package.json"),
      join(folder, "package.json"),
      document.at("build").at("command").text(),
    ),
    ...exportsLeft(path, document.at("main").text()),
    ...others.map(
      (one) => `The environment ${one} inherits no bindings: dormouse init --existing --env ${one}`,
    ),
  ];
}

/** What the Worker's settings lack (rule OW13), with the lines to write: they change the project's own code as well. */
function settingsLeft(
  file: string,
  content: JsonObject,
  environment: string | undefined,
): readonly string[] {
  const sections = content["env"];
  const section =
    environment !== undefined && sections !== undefined && isJsonObject(sections)
      ? sections[environment]
      : undefined;
  const worker =
    section !== undefined && isJsonObject(section) ? { ...content, ...section } : content;
  const { problems, notes } = settingsReport(workerSettings(file, worker), undefined);
  return [...problems, ...notes].map(
    (sentence) => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`,
  );
}

/** @param build the command with which wrangler builds the Worker; undefined without one */
function packageLeft(path: string, shown: string, build: string | undefined): readonly string[] {
  const content = isThere(path)
    ? parsedText(shown, projectText(path, shown, fileLimits.documentBytesMax).text)
    : {};
  const part = new FilePart(content, shown);
  const has = ["dependencies", "devDependencies"].some((key) =>
    part
      .at(key)
      .entries()
      .some(([name]) => name === packageName),
  );
  const scripts = part
    .at("scripts")
    .entries()
    .map(([, script]) => script.text());
  const isChecked = [build, ...scripts].some((one) =>
    /\bdormouse (?:check|deploy)\b/.test(one ?? ""),
  );
  return [
    ...(has ? [] : [`Install the package: npm install ${packageName}`]),
    ...(isChecked
      ? []
      : [
          `Let npm run deploy refuse a mistake in the configuration: npm pkg set scripts.predeploy="dormouse check"`,
        ]),
  ];
}

/** @param main the main module's path in the project; undefined if the file names none */
function exportsLeft(path: string, main: string | undefined): readonly string[] {
  const file = main === undefined ? undefined : join(path, main);
  const text = file !== undefined && isThere(file) ? projectText(file, main ?? file).text : "";
  const missing = exportedClasses.filter((one) => !new RegExp(`\\b${one}\\b`).test(text));
  if (missing.length === 0) return [];
  const place = main ?? "the Worker's main module";
  return [`Add to ${place}: export { ${missing.join(", ")} } from "${packageName}";`];
}
