import { limits } from "../limits.ts";
import type { DecodedFrame } from "./codec.ts";
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

/**
 * The commands of a frame, of whatever format. It ends at the first malformed one, so what it has is in order and without a
 * hole.
 *
 * @param hasNext whether something follows what was read
 * @param next    reads the next command; asked only where there is one
 */
export function readFrame(hasNext: () => boolean, next: () => DecodedCommand): DecodedFrame {
  const commands: Command[] = [];
  while (hasNext()) {
    if (commands.length === limits.frameCommandsMax) {
      return { commands, malformed: `the frame has over ${limits.frameCommandsMax} commands` };
    }
    const decoded = next();
    if (decoded.outcome === "malformed") return { commands, malformed: decoded.reason };
    commands.push(decoded.command);
  }
  return { commands };
}

/** A frame of which nothing can be read. */
export function malformedFrame(reason: string): DecodedFrame {
  return { commands: [], malformed: reason };
}
