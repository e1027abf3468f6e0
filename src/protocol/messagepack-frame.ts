import { limits } from "../limits.ts";
import type { DecodedFrame, Message } from "./codec.ts";
import type { Command } from "./command.ts";
import { decodeRoot } from "./json-command.ts";
import { parseMessagePack } from "./messagepack-value.ts";

/**
 * Decodes a frame: one map after the other with nothing between them, each a command with the names and meanings that it
 * has in JSON (rule W6). Stops at the first that is malformed, so what it returns is in order and without a hole.
 */
export function decodeFrame(message: Message): DecodedFrame {
  const commands: Command[] = [];
  if (typeof message === "string") return { commands, malformed: "the frame is not binary" };
  if (message.length === 0) return { commands, malformed: "the frame is empty" };
  let at = 0;
  while (at < message.length) {
    if (commands.length === limits.frameCommandsMax) {
      return { commands, malformed: `the frame has over ${limits.frameCommandsMax} commands` };
    }
    const root = parseMessagePack(message, at, false);
    if (root.outcome === "malformed") {
      return { commands, malformed: "the command is not valid MessagePack" };
    }
    const decoded = decodeRoot(root.value, (publish) => publish.payload("data"));
    if (decoded.outcome === "malformed") return { commands, malformed: decoded.reason };
    commands.push(decoded.command);
    at = root.end;
  }
  return { commands };
}
