import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Ends a process that was started detached, and all that it has started. */
export async function endGroup(running: ChildProcess | undefined): Promise<void> {
  if (running?.pid === undefined || running.exitCode !== null) return;
  const ended = once(running, "close");
  process.kill(-running.pid, "SIGINT");
  await ended;
}
