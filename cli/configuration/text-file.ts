/**
 * Files that people write: their text without a byte order mark, which some editors put before it, and what is wrong with
 * one that isn't UTF-8. Read as UTF-8 all the same, a name in it would be unknown, and a secret another one (rule N14).
 */
import { readFileSync } from "node:fs";

/** The text of a file that {@link encodingFault} finds nothing wrong with. */
export function textOf(file: string): string {
  return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
}

/**
 * What is wrong with the encoding of a file, in words that quote nothing of the file; undefined if nothing is.
 *
 * @param shown the file's name for a person
 */
export function encodingFault(file: string, shown: string = file): string | undefined {
  const bytes = readFileSync(file);
  // No text has the character U+0000, and in UTF-16 each ASCII character has such a byte.
  if (bytes.includes(0))
    return `${shown} isn't text in UTF-8 but looks like UTF-16: save it as UTF-8`;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return undefined;
  } catch {
    return `${shown} isn't text in UTF-8: save it as UTF-8`;
  }
}
