import type { Message } from "./codec.ts";

/** Bytes after each other; the part itself, not a copy, when there is only one. */
export function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** Puts the messages of a binary format into one frame. All are its own, so none is text. */
export function joinBinaryFrame(messages: readonly Message[]): Message {
  return concatenated(messages.filter((message) => typeof message !== "string"));
}
