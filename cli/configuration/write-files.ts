import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { refusal } from "../shell.ts";
import { kindOf, systemCause } from "./text-file.ts";

/** A file that a command writes. */
export interface WrittenFile {
  readonly path: string;
  /** The file's name for a person. */
  readonly shown: string;
  readonly contents: string | Uint8Array;
  /** Its mode, of which the umask takes; absent: that of the file that is there, or else 0o644. */
  readonly mode?: number;
  /** Whether a file that is there is replaced. A link is replaced itself, not what it leads to. */
  readonly replaces: boolean;
}

/**
 * Writes files, all of them or none: each is written in full beside its place, and only once all are, they are renamed.
 * A reader sees the former content or the new one, also after a crash. Owner, group and mode of a file that is there stay.
 *
 * @throws {Failure} if one can't be written; no file has changed then
 */
export function writeFiles(files: readonly WrittenFile[]): void {
  const unfinished = new Map<WrittenFile, string>();
  try {
    for (const file of files) {
      const former = formerOf(file);
      const beside = join(
        dirname(file.path),
        `.${basename(file.path).slice(0, 100)}.${randomBytes(6).toString("hex")}`,
      );
      unfinished.set(file, beside);
      orRefused(file, () => writeBeside(beside, file, former));
    }
    for (const file of files) formerOf(file);
    for (const [file, beside] of unfinished) orRefused(file, () => renameSync(beside, file.path));
  } finally {
    for (const beside of unfinished.values()) rmSync(beside, { force: true });
  }
}

/** What is in a file's place; undefined if nothing is. */
function formerOf(file: WrittenFile): Stats | undefined {
  const former = orRefused(file, () => lstatSync(file.path, { throwIfNoEntry: false }));
  if (former === undefined) return undefined;
  if (!file.replaces) throw refusal(`${file.shown} exists, and isn't replaced`);
  if (former.isSymbolicLink()) return undefined;
  if (!former.isFile()) throw refusal(`${file.shown} can't be written: ${kindOf(former)}`);
  // A rename asks for no right to write the file.
  orRefused(file, () => accessSync(file.path, constants.W_OK));
  return former;
}

function writeBeside(beside: string, { contents, mode }: WrittenFile, former?: Stats): void {
  const descriptor = openSync(beside, "wx", mode ?? 0o644);
  try {
    if (former !== undefined) {
      keepOwner(descriptor, former);
      if (mode === undefined) fchmodSync(descriptor, former.mode & 0o7777);
    }
    writeFileSync(descriptor, contents);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function keepOwner(descriptor: number, { uid, gid }: Stats): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch {
    // Only root may give files away: the file is then of the user that writes it, as an editor leaves it.
  }
}

function orRefused<Result>({ shown }: WrittenFile, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const cause = systemCause(error);
    if (cause === undefined) throw error;
    throw refusal(`${shown} can't be written: ${cause}`);
  }
}
