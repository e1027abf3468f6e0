import { closeSync, openSync, writeSync } from "node:fs";
import { ednLine } from "./edn.ts";
import { EdnProcesses } from "./edn-processes.ts";
import { readHistory } from "./read-history.ts";

/**
 * Writes a history as one file of EDN, in little memory.
 *
 * @param files of the history, as {@link readHistory} takes them
 * @returns how many lines it wrote
 */
export function writeEdn(files: readonly string[], target: string): number {
  const processes = new EdnProcesses();
  const descriptor = openSync(target, "w");
  let count = 0;
  let unwritten = "";
  const write = (): void => {
    const bytes = Buffer.from(unwritten);
    unwritten = "";
    let written = 0;
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  };
  try {
    for (const event of readHistory(files)) {
      unwritten += `${ednLine(event, count++, processes)}\n`;
      if (unwritten.length >= pieceLength) write();
    }
    write();
  } finally {
    closeSync(descriptor);
  }
  return count;
}

const pieceLength = 256 * 1024;
