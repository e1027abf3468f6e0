import { execFileSync } from "node:child_process";

/** How many files and sockets a process that is started here may have open; Infinity where that isn't limited. */
export function descriptorLimit(): number {
  const limit = Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }));
  // It says "unlimited" then.
  return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit;
}
