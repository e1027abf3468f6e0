import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { writeFiles } from "../configuration/write-files.ts";

/**
 * Writes a built file unless it is as it was. A process that reads the file, or watches its folder, sees no change, and never
 * a half-written file: several builds may run at a time, as two `npm pack` do.
 *
 * @param mode of a file that is written, such as 0o755
 */
export function writeChanged(path: string, contents: Uint8Array, mode = 0o644): void {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFiles([{ path, shown: path, contents, mode, replaces: true }]);
}
