import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFiles } from "../configuration/write-files.ts";

/** How an update ended. */
export type UpdateOutcome =
  /** The new version serves; nobody was answered for so many ms. */
  | { readonly outcome: "updated"; readonly goneMs: number }
  /** The version before serves. */
  | { readonly outcome: "refused"; readonly problem: string };

/** The outcome as the operator is told. */
export function updateText(outcome: UpdateOutcome): string {
  switch (outcome.outcome) {
    case "updated":
      return `The server was updated: requests waited for ${outcome.goneMs} ms`;
    case "refused":
      return `The server was not updated and serves as before: ${outcome.problem}`;
  }
}

/** Stores how an update ended, in the server's state folder, for the process that asked for it. */
export function noteUpdate(folder: string, outcome: UpdateOutcome): void {
  const path = join(folder, "updated");
  // Two updates may end alike: the id tells them apart.
  const contents = JSON.stringify({ id: crypto.randomUUID(), outcome });
  writeFiles([{ path, shown: path, contents, mode: 0o600, replaces: true }]);
}

/** The note about the last update: its id, and how it ended; undefined if there was none. */
export function lastUpdate(
  folder: string,
): { readonly id: string; readonly outcome: UpdateOutcome } | undefined {
  const path = join(folder, "updated");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
