import type { DecodedFrame, Message } from "../codec.ts";
import { malformed, malformedFrame, readFrame } from "../decoded-command.ts";
import { decodeCommand } from "./json-command.ts";
import { utf8Text } from "../bytes.ts";

/** Decodes a frame: one command a line, one line break allowed after the last (reference 1.1). */
export function decodeFrame(message: Message): DecodedFrame {
  const frame = frameText(message);
  if (frame === undefined) return malformedFrame("the frame is not valid UTF-8");
  const end = frame.endsWith("\n") ? frame.length - 1 : frame.length;
  if (end === 0) return malformedFrame("the frame is empty");
  let start = 0;
  return readFrame(
    () => start <= end,
    () => {
      const lineStart = start;
      const lineBreak = frame.indexOf("\n", lineStart);
      const lineEnd = lineBreak < 0 ? end : lineBreak;
      start = lineEnd + 1;
      return lineEnd === lineStart
        ? malformed("the frame has an empty line")
        : decodeCommand(frame.slice(lineStart, lineEnd));
    },
  );
}

/** A frame as text; undefined when it is not UTF-8. Centrifugo reads JSON from binary messages too. */
export function frameText(message: Message): string | undefined {
  return typeof message === "string" ? message : utf8Text(message);
}
