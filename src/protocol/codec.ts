import type { Command } from "./command.ts";
import type { Push, Reply } from "./reply.ts";
import { limits } from "../limits.ts";

/**
 * Decodes a client's frames to commands, and encodes replies and pushes to frames. Each format has one codec; the
 * folders above `protocol/` treat all codecs alike. Decoding and encoding never throw.
 */
export interface Codec {
  readonly name: CodecName;
  /**
   * The form of payloads for delta subscribers (docs/protocol.md 3.1): in JSON all of them are strings, full payloads
   * and deltas alike; in the binary formats they are bytes, as for any subscriber.
   */
  readonly deltaForm: "text" | "bytes";
  /** The frame of the server's ping. */
  readonly ping: Message;
  decodeFrame(frame: Message): DecodedFrame;
  encodeReply(reply: Reply): Message;
  encodePush(push: Push): Message;
  /** Joins messages to one frame, in their order. Takes at least one, all encoded by the same codec. */
  joinFrame(messages: readonly Message[]): Message;
}

/** "one_way" is the JSON of unidirectional clients (docs/protocol.md 4.5); sessions store these names (rule V1). */
export type CodecName = "json" | "protobuf" | "msgpack" | "one_way";

/** An encoded reply, push or frame; a single message is also a frame. Text in JSON, bytes in the binary formats. */
export type Message = string | Uint8Array;

/**
 * The commands of a frame before the first malformed one, which are valid and must be carried out (rule C8).
 * `malformed` says what is wrong with that one; it names a field and never quotes a token or payload.
 */
export interface DecodedFrame {
  readonly commands: readonly Command[];
  readonly malformed?: string;
}

/** A command, or the reason why it is malformed, which names a field and never quotes a value. */
export type DecodedCommand =
  | { readonly outcome: "command"; readonly command: Command }
  | { readonly outcome: "malformed"; readonly reason: string };

/** A command that can't be read, for this reason. */
export function malformed(reason: string): DecodedCommand {
  return { outcome: "malformed", reason };
}

/**
 * Reads the commands of a frame of any format, up to the first malformed one or to `limits.frameCommandsMax`.
 *
 * @param hasNext whether the frame has another command
 * @param next    reads that command; only called if there is one
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

/** A frame without a command that could be read. */
export function malformedFrame(reason: string): DecodedFrame {
  return { commands: [], malformed: reason };
}
