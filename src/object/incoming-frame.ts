import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";
import type { Message } from "../protocol/codec.ts";

/** A WebSocket message as codecs take it. */
type IncomingFrame =
  | { readonly outcome: "frame"; readonly frame: Message }
  | { readonly outcome: "too-large" };

/** Takes a WebSocket message of at most `limits.frameBytesMax` bytes. */
export function incomingFrame(message: string | ArrayBuffer | Uint8Array): IncomingFrame {
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
