import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { faultKinds } from "./faults/fault-kind.ts";
import type { ProveOptions } from "./options.ts";
import type { Target } from "./target.ts";

/**
 * Facts about a run that its history doesn't hold. The file lies beside the history, so that the history can be checked
 * again at any time.
 */
export interface RunFacts {
  /** The command line that repeats the run. */
  readonly command: string;
  /** The server: a local one, a local one without a protection, or an address. */
  readonly subject: string;
  /** The date of the run, such as `2026-11-21`. */
  readonly date: string;
  readonly machine: string;
  readonly seconds: number;
  readonly pingIntervalMs: number;
}

/** The two files of a history, which are merged by time. */
export function historiesIn(folder: string): {
  readonly backend: string;
  readonly clients: string;
} {
  const file = (part: string): string => join(folder, `history-${part}.jsonl`);
  return { backend: file("backend"), clients: file("clients") };
}

/** @param seconds how long the run took */
export function factsOf(options: ProveOptions, target: Target, seconds: number): RunFacts {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return {
    command: commandOf(options),
    subject: target.subject,
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${gigabytes} GiB`,
    seconds,
    pingIntervalMs: target.pingIntervalMs,
  };
}

export function writeFacts(folder: string, facts: RunFacts): void {
  writeFileSync(factsFile(folder), `${JSON.stringify(facts, undefined, 2)}\n`);
}

/** Throws if the folder has none. */
export function readFacts(folder: string): RunFacts {
  const facts: RunFacts = JSON.parse(readFileSync(factsFile(folder), "utf8"));
  return facts;
}

function factsFile(folder: string): string {
  return join(folder, "run.json");
}

/** The given options, with the seed that repeats the random choices. */
function commandOf(options: ProveOptions): string {
  const { seed, seconds, deliveries, faults, pace, remote, without } = options;
  const rates = [...faults].map(([kind, perMinute]) => `${kind}=${perMinute}`).join(",");
  const usual = faultKinds.map(({ kind, perMinute }) => `${kind}=${perMinute}`).join(",");
  return [
    `npm run prove -- --seed ${seed} --seconds ${seconds}`,
    deliveries === 0 ? "" : `--deliveries ${deliveries}`,
    rates === usual ? "" : `--faults ${rates === "" ? "none" : rates}`,
    pace === 1 ? "" : `--pace ${pace}`,
    remote === undefined ? "" : `--url ${remote.url.href}`,
    without === undefined ? "" : `--without ${without.name}`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}
