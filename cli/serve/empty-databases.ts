import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

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
