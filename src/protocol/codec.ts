import type { Command } from "./command.ts";
import type { Push, Reply } from "./reply.ts";
import { limits } from "../limits.ts";

/**
 * Turns frames into commands and decisions into frames. One implementation per wire format; nothing outside
 * `protocol/` knows which one a connection speaks. Decoding and encoding never throw.
 */
export interface Codec {
  readonly name: CodecName;
  /**
   * How a payload stands where a subscriber asked for deltas (docs/protocol.md 3.1): JSON has all of them as strings, full ones and
   * patches; the binary formats have bytes as ever.
   */
  readonly deltaForm: "text" | "bytes";
  /** The frame that asks a client whether it is still there. */
  readonly ping: Message;
  decodeFrame(frame: Message): DecodedFrame;
  encodeReply(reply: Reply): Message;
  encodePush(push: Push): Message;
  /** Puts messages into one transport frame, in order. Takes at least one, all made by the same codec. */
  joinFrame(messages: readonly Message[]): Message;
}

/**
 * one_way: JSON for those who only listen (docs/protocol.md 4.5). Their first and only frame is what a connect command asks for, and
 * they get pushes without a wrapper.
 */
export type CodecName = "json" | "protobuf" | "msgpack" | "one_way";

/** One encoded reply or push; also a frame of its own. Text in JSON, bytes in the binary formats. */
export type Message = string | Uint8Array;

/**
 * What stood in one frame. Commands before a malformed one are valid and must be carried out first;
 * `malformed` then says what is wrong with the next, naming a field but never quoting a token or payload.
 */
export interface DecodedFrame {
  readonly commands: readonly Command[];
  readonly malformed?: string;
}

/** One command of a frame, or what is wrong with it, naming a field but never quoting a value. */
export type DecodedCommand =
  | { readonly outcome: "command"; readonly command: Command }
  | { readonly outcome: "malformed"; readonly reason: string };

export function malformed(reason: string): DecodedCommand {
  return { outcome: "malformed", reason };
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
