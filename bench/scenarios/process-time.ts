import { readFileSync } from "node:fs";
import { listeningProcess } from "../systems/listening-process.ts";
import type { MeasuredRun } from "./measured-run.ts";

/**
 * The process of a system, for its processor time: one that the bench has started, or that of a peer on this machine.
 * Undefined for a peer elsewhere.
 */
export function timedProcessOf({ running, server }: MeasuredRun): number | undefined {
  if (running.processId !== undefined) return running.processId;
  return isHere(server.sockets.host) ? listeningProcess(server.sockets.port) : undefined;
}

function isHere(host: string): boolean {
  return host === "localhost" || host.startsWith("127.");
}

/**
 * The processor time that a process has used so far, in all of its threads and in the children that have ended, ms.
 * Linux counts it in hundredths of a second.
 */
export function processTimeMs(processId: number): number {
  const text = readFileSync(`/proc/${processId}/stat`, "utf8");
  // The program's name is in parentheses, and may hold spaces. The third field follows it; the times are 14 to 17.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(14 - 3, 18 - 3).map(Number);
  return ticks.reduce((sum, count) => sum + count, 0) * msPerTick;
}

/** The kernel shows 100 ticks a second to programs, whatever it counts itself. */
const msPerTick = 10;
