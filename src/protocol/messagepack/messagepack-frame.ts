import type { DecodedFrame, Message } from "../codec.ts";
import { malformed, malformedFrame, readFrame } from "../decoded-command.ts";
import { decodeRoot } from "../json/json-command.ts";
import { parseMessagePack } from "./value.ts";

/**
 * Decodes a frame: one map after the other with nothing between them, each a command with the names and meanings that it
 * has in JSON (rule W6).
 */
export function decodeFrame(message: Message): DecodedFrame {
  if (typeof message === "string") return malformedFrame("the frame is not binary");
  if (message.length === 0) return malformedFrame("the frame is empty");
  let at = 0;
  return readFrame(
    () => at < message.length,
    () => {
      const root = parseMessagePack(message, at, false);
      if (root.outcome === "malformed") return malformed("the command is not valid MessagePack");
      at = root.end;
      return decodeRoot(root.value, (publish) => publish.payload("data"));
    },
  );
}
