/** Whether a text takes at most so many bytes as UTF-8. The bytes are only counted if the length doesn't settle it. */
export function utf8Fits(text: string, bytesMax: number): boolean {
  // A UTF-16 unit takes at least one byte and at most three.
  if (text.length > bytesMax) return false;
  return text.length * 3 <= bytesMax || utf8Length(text) <= bytesMax;
}

/** The number of bytes that a text takes as UTF-8. */
export function utf8Length(text: string): number {
  return encoder.encode(text).byteLength;
}

const encoder = new TextEncoder();

/** Bytes as text; undefined if they aren't UTF-8. A byte order mark is kept, so that JSON.parse refuses it. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined; // The decoder throws on bad input, and only then.
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes of a text of hexadecimal digits, two for each byte. */
export function hexadecimalBytes(digits: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(digits.length / 2);
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  return bytes;
}

/** The parts one after the other, in new memory; a single part is returned as it is, not copied. */
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

/** Joins messages of a binary format, none of which is text, to one frame. */
export function joinBinaryFrame(messages: readonly (string | Uint8Array)[]): Uint8Array {
  return concatenated(messages.filter((message) => typeof message !== "string"));
}
