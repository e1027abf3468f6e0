import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { DecodedFrame, Message } from "../codec.ts";
import { malformed, malformedFrame, readFrame } from "../decoded-command.ts";
import { decodeCommand } from "./protobuf-command.ts";
import { takeDelimited } from "./fields.ts";

/** Decodes a frame: commands, each after its length (reference 1.1). */
export function decodeFrame(message: Message): DecodedFrame {
  if (typeof message === "string") return malformedFrame("the frame is not binary");
  if (message.byteLength === 0) return malformedFrame("the frame is empty");
  const reader = new BinaryReader(message);
  return readFrame(
    () => reader.pos < message.byteLength,
    () => {
      const bytes = takeDelimited(reader, message);
      return bytes === undefined
        ? malformed("the frame is not as long as it says")
        : decodeCommand(bytes);
    },
  );
}
