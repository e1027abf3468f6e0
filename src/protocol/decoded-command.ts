import type { Command } from "./command.ts";

/** One command of a frame, or what is wrong with it, naming a field but never quoting a value. */
export type DecodedCommand =
  | { readonly outcome: "command"; readonly command: Command }
  | { readonly outcome: "malformed"; readonly reason: string };

export function malformed(reason: string): DecodedCommand {
  return { outcome: "malformed", reason };
}

/**
 * A command whose fields were read, whatever the format.
 *
 * @param id         0 where it had none
 * @param complaints what was wrong with its fields, oldest first
 */
export function readCommand(
  command: Command,
  id: number,
  [complaint]: readonly string[],
): DecodedCommand {
  if (complaint !== undefined) return malformed(complaint);
  if (command.method === "pong") {
    if (id !== 0) return malformed("the command has an id but no method");
  } else if (id === 0 && command.method !== "send") {
    // Only `send` goes unanswered; every other reply would have nothing to refer to.
    return malformed(`${command.method} has no id`);
  }
  return { outcome: "command", command };
}
