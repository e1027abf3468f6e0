import { BinaryReader } from "@bufbuild/protobuf/wire";

import { limits } from "../limits.ts";
import type { DecodedFrame, Message } from "./codec.ts";
import type { Command } from "./command.ts";
import { concatenated } from "./concatenated.ts";
import { decodeCommand } from "./protobuf-command.ts";
import { takeDelimited } from "./protobuf-fields.ts";

/**
 * Decodes a frame: commands, each after its length (reference 1.1). Stops at the first malformed one, so what it returns
 * is in order and without a hole.
 */
export function decodeFrame(message: Message): DecodedFrame {
  const commands: Command[] = [];
  if (typeof message === "string") return { commands, malformed: "the frame is not binary" };
  if (message.byteLength === 0) return { commands, malformed: "the frame is empty" };
  const reader = new BinaryReader(message);
  while (reader.pos < message.byteLength) {
    if (commands.length === limits.frameCommandsMax) {
      return { commands, malformed: `the frame has over ${limits.frameCommandsMax} commands` };
    }
    const bytes = takeDelimited(reader, message);
    if (bytes === undefined) return { commands, malformed: "the frame is not as long as it says" };
    const decoded = decodeCommand(bytes);
    if (decoded.outcome === "malformed") return { commands, malformed: decoded.reason };
    commands.push(decoded.command);
  }
  return { commands };
}

/** Messages stand one after the other: each brings its own length. */
export function joinFrame(messages: readonly Message[]): Message {
  // All are this codec's own, so none is text.
  return concatenated(messages.filter((message) => typeof message !== "string"));
}
