import { limits } from "../../src/limits.ts";
import { utf8Fits } from "../../src/protocol/utf8.ts";

/** A WebSocket message as the codec wants it. Centrifugo reads JSON from binary messages too. */
export type Frame =
  | { readonly outcome: "frame"; readonly text: string }
  | { readonly outcome: "too-large" }
  | { readonly outcome: "malformed" };

/** Reads a message of at most `limits.frameBytesMax` bytes of UTF-8. */
export function readFrame(message: string | ArrayBuffer): Frame {
  if (typeof message === "string") {
    return utf8Fits(message, limits.frameBytesMax)
      ? { outcome: "frame", text: message }
      : { outcome: "too-large" };
  }
  if (message.byteLength > limits.frameBytesMax) return { outcome: "too-large" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message);
    return { outcome: "frame", text };
  } catch {
    return { outcome: "malformed" };
  }
}
