import { limits } from "../../src/limits.ts";
import type { Message } from "../../src/protocol/codec.ts";
import { utf8Fits } from "../../src/protocol/bytes.ts";

/** A WebSocket message as a codec wants it. */
export type Frame =
  | { readonly outcome: "frame"; readonly frame: Message }
  | { readonly outcome: "too-large" };

/** Takes a message of at most `limits.frameBytesMax` bytes. */
export function readFrame(message: string | ArrayBuffer | Uint8Array): Frame {
  if (typeof message === "string") {
    return utf8Fits(message, limits.frameBytesMax)
      ? { outcome: "frame", frame: message }
      : { outcome: "too-large" };
  }
  return message.byteLength > limits.frameBytesMax
    ? { outcome: "too-large" }
    : {
        outcome: "frame",
        frame: message instanceof Uint8Array ? message : new Uint8Array(message),
      };
}
