import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { optionValue, targetOf } from "../configuration/command-line.ts";
import { lockFolder } from "./state-folder.ts";
import { configurationFile } from "../deployment/wrangler-config.ts";
import { packageRoot } from "../package-root.ts";

/**
 * Locks the folder in which `wrangler dev` keeps the state of the objects, for as long as this process lives. Two
 * servers on one folder would both assign offsets to the same channels.
 *
 * @param options wrangler's command line
 * @returns the problem; undefined if there is none
 */
export function takeWranglerState(options: readonly string[]): string | undefined {
  const folder = stateFolderOf(options);
  mkdirSync(folder, { recursive: true });
  const problem = lockFolder(folder, "--persist-to");
  if (problem !== undefined) return problem;
  // The runtime outlives this process and wrangler if they are killed. The lock is free then, and the state isn't.
  if (!databasesOf(folder).some(isOpen)) return undefined;
  return `a server whose parent process was killed still uses ${folder}: end its processes, which are named workerd`;
}

/** The folder that wrangler uses. A relative `--persist-to` is relative to the folder in which wrangler runs. */
function stateFolderOf(options: readonly string[]): string {
  const given = optionValue(options, "--persist-to", "--persistTo");
  if (given !== undefined) return resolve(packageRoot, given);
  return join(dirname(configurationFile(targetOf(options))), ".wrangler", "state");
}

/** The databases in which the runtime keeps the alarms of each class of objects. They are open while it runs. */
function databasesOf(folder: string): readonly string[] {
  const classes = join(folder, "v3", "do");
  if (!existsSync(classes)) return [];
  return readdirSync(classes)
    .map((name) => join(classes, name, "metadata.sqlite"))
    .filter((file) => existsSync(file));
}

/** Whether another process has a database open. SQLite gives one process the whole database only if no other has it. */
function isOpen(file: string): boolean {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}
