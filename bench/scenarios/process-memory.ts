import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The resident memory of a process, bytes. */
export async function processMemoryBytes(processId: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(processId)]);
  return Number.parseInt(stdout, 10) * 1_024;
}
