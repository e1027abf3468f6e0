import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What a process holds of the machine's memory, bytes. */
export async function processMemoryBytes(processId: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(processId)]);
  return Number.parseInt(stdout, 10) * 1_024;
}
