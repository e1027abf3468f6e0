import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { inject } from "vitest";
import { writeChanged } from "../../../cli/build/write-changed.ts";
import { packageRoot } from "../../../cli/package-root.ts";

/**
 * Copies the package, as `npm pack` packs it, into a folder, and gives the name of its file there. It is built and packed
 * once in a run of the tests.
 *
 * @throws with the output of npm if it could not be packed
 */
export async function packedInto(folder: string): Promise<string> {
  const place = join(inject("runFolder"), "package");
  const end = join(place, "end");
  if (isFirst(place)) {
    const problem = await pack(place);
    writeChanged(end, Buffer.from(problem));
  }
  while (!existsSync(end)) await pause(100);
  const problem = readFileSync(end, "utf8");
  if (problem !== "") throw new Error(problem);
  const name = readdirSync(place).find((file) => file.endsWith(".tgz")) ?? "";
  copyFileSync(join(place, name), join(folder, name));
  return name;
}

/** Whether no other process has called it with this folder, which it makes. */
function isFirst(folder: string): boolean {
  return mkdirSync(folder, { recursive: true }) !== undefined;
}

/** Gives the problem, or nothing. */
async function pack(folder: string): Promise<string> {
  try {
    const options = ["pack", "--silent", "--pack-destination", folder];
    await promisify(execFile)("npm", options, { cwd: packageRoot });
    return "";
  } catch (error) {
    return String(error);
  }
}
