import type { Command } from "./command.ts";
import type { Push, Reply } from "./reply.ts";

/**
 * Turns frames into commands and decisions into frames. One implementation per wire format; nothing outside
 * `protocol/` knows which one a connection speaks.
 */
export interface Codec {
  /** The frame that asks a client whether it is still there. */
  readonly ping: Message;
  decodeFrame(frame: string): DecodedFrame;
  encodeReply(reply: Reply): Message;
  encodePush(push: Push): Message;
  /** Puts messages into one transport frame, in order. Takes at least one. */
  joinFrame(messages: readonly Message[]): Message;
}

/** One encoded reply or push; also a frame of its own. */
export type Message = string;

/**
 * What stood in one frame. Commands before a malformed one are valid and must be carried out first;
 * `malformed` then says what is wrong with the next, naming a field but never quoting a token or payload.
 */
export interface DecodedFrame {
  readonly commands: readonly Command[];
  readonly malformed?: string;
}
