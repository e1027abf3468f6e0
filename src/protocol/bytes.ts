import type { Message } from "./codec.ts";

/** Whether a text takes at most so many bytes as UTF-8. Most texts need no counting, and then none is done. */
export function utf8Fits(text: string, bytesMax: number): boolean {
  // A UTF-16 unit takes at least one byte and at most three.
  if (text.length > bytesMax) return false;
  return text.length * 3 <= bytesMax || utf8Length(text) <= bytesMax;
}

/** How many bytes a text takes as UTF-8. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** Bytes as text; undefined when they are not UTF-8. A byte order mark is kept, so that it is refused: JSON has none. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // It throws on bad input, and only then.
  }
}

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
