import { realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { refusal } from "../shell.ts";
import { parseFile } from "./document.ts";
import { fileLimits } from "./file-limits.ts";
import { readTextFile } from "./text-file.ts";
import { writeFiles } from "./write-files.ts";

/** A file of a project that a command changes. */
export interface ProjectFile {
  /** Where it is: a link leads there. */
  readonly path: string;
  /** Its name for a person. */
  readonly shown: string;
  readonly text: string;
  /** The byte order mark before the text; "" without one. */
  readonly mark: string;
}

/**
 * Reads a file that a command is about to change.
 *
 * @param folder of the project, absolute
 * @param shown  the file's name for a person
 * @throws {Failure} if it can't be read as text, or is a link that leads out of the project: another project's is not to change
 */
export function projectFile(folder: string, name: string, shown: string): ProjectFile {
  const { text, mark } = projectText(join(folder, name), shown, fileLimits.documentBytesMax);
  const path = realpathSync(join(folder, name));
  if (relative(realpathSync(folder), path).split(sep)[0] === "..")
    throw refusal(
      `${shown} is a link to ${path}, outside of the project: name the folder that the file is in`,
    );
  return { path, shown, text, mark };
}

/**
 * Reads a text of a project.
 *
 * @throws {Failure} if it can't be read, or isn't UTF-8
 */
export function projectText(path: string, shown: string, bytesMax?: number) {
  const read = readTextFile(path, shown, bytesMax);
  if (read.outcome === "bad") throw refusal(read.problem);
  return read;
}

/**
 * Parses a text of a project.
 *
 * @throws {Failure} if it isn't in the form that its name says, or no object
 */
export function parsedText(shown: string, text: string): JsonObject {
  const parsed = parseFile(shown, text);
  if (parsed.outcome === "bad") throw refusal(parsed.problem);
  return parsed.document;
}

/**
 * Writes new texts of files of a project, all of them or none.
 *
 * @throws {Failure} if one can't be written
 */
export function rewrite(files: readonly ProjectFile[]): void {
  writeFiles(
    files.map(({ path, shown, text, mark }) => ({
      path,
      shown,
      contents: mark + text,
      replaces: true,
    })),
  );
}
