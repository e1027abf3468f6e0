import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileLimits } from "../configuration/file-limits.ts";
import { parsedText, projectText } from "../configuration/project-file.ts";

/**
 * The file that a build has written for wrangler, such as that of vite, in place of the project's own: what is deployed is what
 * this one says.
 *
 * @returns its path from the folder; undefined if there is none
 */
export function redirectedFile(folder: string): string | undefined {
  const shown = join(".wrangler", "deploy", "config.json");
  const path = join(folder, shown);
  if (!existsSync(path)) return undefined;
  const { text } = projectText(path, shown, fileLimits.documentBytesMax);
  const { configPath } = parsedText(shown, text);
  return typeof configPath === "string"
    ? relative(folder, resolve(folder, ".wrangler", "deploy", configPath))
    : undefined;
}
