/**
 * Files that people write: their text without a byte order mark, which some editors put before it, and what is wrong with
 * one that can't be read as text. Read as UTF-8 all the same, a name in it would be unknown, and a secret another one
 * (rule N14).
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import type { Stats } from "node:fs";
import { fileLimits } from "./file-limits.ts";

/** A file as text, or why it isn't one: a sentence that names it and quotes nothing of it (rule A7). */
export type TextFile =
  | {
      readonly outcome: "text";
      readonly text: string;
      /** The byte order mark before the text; "" without one. */
      readonly mark: string;
    }
  | { readonly outcome: "bad"; readonly problem: string };

/**
 * Reads a file at once.
 *
 * @param shown    the file's name for a person
 * @param bytesMax a larger file is refused
 */
export function readTextFile(
  file: string,
  shown: string = file,
  bytesMax: number = fileLimits.textBytesMax,
): TextFile {
  try {
    return decoded(bytesOf(file, bytesMax), shown);
  } catch (error) {
    const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    const cause = systemCause(error);
    if (cause === undefined) throw error;
    const link = isLink ? ", which is a link," : "";
    return { outcome: "bad", problem: `${shown}${link} can't be read: ${cause}` };
  }
}

/** The text of a file that {@link textFault} finds nothing wrong with. */
export function textOf(file: string): string {
  const read = readTextFile(file);
  if (read.outcome === "bad") throw new Error(read.problem);
  return read.text;
}

/**
 * What is wrong with a file of text, in words that quote nothing of the file; undefined if nothing is.
 *
 * @param shown the file's name for a person
 */
export function textFault(file: string, shown: string = file): string | undefined {
  const read = readTextFile(file, shown);
  return read.outcome === "bad" ? read.problem : undefined;
}

/** Why the system can't do something with a file; undefined if the error isn't the system's. */
export function systemCause(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof FileFault) return error.message;
  if (!("code" in error) || !("syscall" in error)) return undefined;
  return causes[String(error.code)] ?? String(error.code);
}

const causes: Readonly<Partial<Record<string, string>>> = {
  ENOENT: "it doesn't exist",
  EACCES: "its permissions don't allow it",
  EPERM: "its permissions don't allow it",
  EROFS: "its file system is read-only",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
  EEXIST: "it exists",
  ELOOP: "its links lead in a circle",
  ENXIO: "it is no regular file",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of the disk is used up",
};

/** A file that is there, and can't be what a person meant. */
class FileFault extends Error {}

function bytesOf(file: string, bytesMax: number): Buffer {
  // Without O_NONBLOCK, a named pipe would be waited for until somebody writes into it.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new FileFault(kindOf(stats));
    if (stats.size > bytesMax)
      throw new FileFault(`it has ${stats.size} bytes, and at most ${bytesMax} are read`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What a file is that isn't a regular one. */
export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "it is a folder";
  return stats.isFIFO() ? "it is a named pipe" : "it is no regular file";
}

function decoded(bytes: Buffer, shown: string): TextFile {
  // No text has the character U+0000, and in UTF-16 each ASCII character has such a byte.
  if (bytes.includes(0))
    return {
      outcome: "bad",
      problem: `${shown} isn't text in UTF-8 but looks like UTF-16: save it as UTF-8`,
    };
  try {
    const all = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const mark = all.startsWith("\uFEFF") ? "\uFEFF" : "";
    return { outcome: "text", text: all.slice(mark.length), mark };
  } catch {
    return { outcome: "bad", problem: `${shown} isn't text in UTF-8: save it as UTF-8` };
  }
}
