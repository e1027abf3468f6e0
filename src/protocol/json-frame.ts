import type { DecodedFrame, Message } from "./codec.ts";
import type { Command } from "./command.ts";
import { decodeCommand } from "./json-command.ts";
import { limits } from "../limits.ts";

/**
 * Decodes a frame: one command a line, one line break allowed after the last (reference 1.1). Stops at the first
 * malformed line, so what it returns is in order and without a hole.
 */
export function decodeFrame(message: Message): DecodedFrame {
  const commands: Command[] = [];
  const frame = frameText(message);
  if (frame === undefined) return { commands, malformed: "the frame is not valid UTF-8" };
  const end = frame.endsWith("\n") ? frame.length - 1 : frame.length;
  if (end === 0) return { commands, malformed: "the frame is empty" };
  let start = 0;
  while (start <= end) {
    if (commands.length === limits.frameCommandsMax) {
      return { commands, malformed: `the frame has over ${limits.frameCommandsMax} commands` };
    }
    const lineBreak = frame.indexOf("\n", start);
    const lineEnd = lineBreak < 0 ? end : lineBreak;
    if (lineEnd === start) return { commands, malformed: "the frame has an empty line" };
    const decoded = decodeCommand(frame.slice(start, lineEnd));
    if (decoded.outcome === "malformed") return { commands, malformed: decoded.reason };
    commands.push(decoded.command);
    start = lineEnd + 1;
  }
  return { commands };
}

/** Centrifugo reads JSON from binary messages too. */
export function frameText(message: Message): string | undefined {
  if (typeof message === "string") return message;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message);
  } catch {
    return undefined; // It throws on bad input, and only then.
  }
}
