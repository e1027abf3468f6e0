/** Bytes from hexadecimal digits; spaces between them don't matter. */
export function fromHex(digits: string): Uint8Array {
  const pairs = digits.replaceAll(" ", "").match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** Bytes as hexadecimal digits. */
export function toHex(bytes: string | Uint8Array): string {
  if (typeof bytes === "string") return `text: ${bytes}`;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What a text is in UTF-8, as payloads stand in MessagePack. */
export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
