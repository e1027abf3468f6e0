import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeNote } from "./state-folder.ts";

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
  // Two updates may end alike: the id tells them apart.
  writeNote(folder, "updated", JSON.stringify({ id: crypto.randomUUID(), outcome }));
}

/** The note about the last update: its id, and how it ended; undefined if there was none. */
export function lastUpdate(
  folder: string,
): { readonly id: string; readonly outcome: UpdateOutcome } | undefined {
  const path = join(folder, "updated");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
