import {
  existsSync,
  mkdirSync,
  readdirSync,
  closeSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { optionValue, targetOf } from "../configuration/command-line.ts";
import { isOpen, lockFolder } from "./state-folder.ts";
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

/**
 * Deletes the databases of objects that store nothing. workerd makes a file for each object that it starts, whatever the
 * object stores, and never deletes one, not even for `deleteAll`. Call this only while no server uses the folder.
 *
 * @param storage the folder with a folder for each class of objects; it may be absent
 * @returns how many were deleted
 */
export function deleteEmptyDatabases(storage: string): number {
  if (!existsSync(storage)) return 0;
  let deleted = 0;
  for (const objects of readdirSync(storage, { withFileTypes: true })) {
    if (!objects.isDirectory()) continue;
    const folder = join(storage, objects.name);
    for (const name of readdirSync(folder)) {
      if (!objectDatabase.test(name) || !isEmpty(join(folder, name))) continue;
      for (const part of ["", "-wal", "-shm"]) rmSync(join(folder, name + part), { force: true });
      deleted++;
    }
  }
  return deleted;
}

/** The name of an object's database is the object's ID. All else, such as `metadata.sqlite`, is the runtime's own. */
const objectDatabase = /^[\da-f]{64}\.sqlite$/;

/**
 * Whether a database has no table. Its first page then has an empty leaf of the schema's tree, as SQLite's file format
 * says (sqlite.org/fileformat2.html, sections 1.3 and 1.6). With a write-ahead log, which a crash leaves behind, the file
 * isn't the whole database.
 */
function isEmpty(file: string): boolean {
  if (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0) return false;
  const head = Buffer.alloc(schemaCellsAt + 2);
  const descriptor = openSync(file, "r");
  try {
    const bytes = readSync(descriptor, head);
    if (bytes === 0) return true;
    if (bytes < head.length || !head.toString("latin1").startsWith("SQLite format 3\0"))
      return false;
    return head[schemaPageAt] === leafPage && head.readUInt16BE(schemaCellsAt) === 0;
  } finally {
    closeSync(descriptor);
  }
}

/** Where the header of the schema's first page begins, after the header of the file, and its number of cells. */
const schemaPageAt = 100;
const schemaCellsAt = schemaPageAt + 3;
/** The type of a page that is a leaf of a table's tree. */
const leafPage = 0x0d;
