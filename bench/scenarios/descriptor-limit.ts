import { execFileSync } from "node:child_process";

/** How many files and sockets a child process may have open; Infinity if there is no limit. */
export function descriptorLimit(): number {
  const limit = Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }));
  // The limit is "unlimited" then.
  return Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit;
}
