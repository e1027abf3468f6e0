/**
 * Makes the SHA-256 of a text. It has the same length for every secret, so that comparing two digests tells nothing of
 * a secret (rule A7).
 */
export function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}

/** Bytes in hexadecimal, with two lowercase digits each. */
export function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares all bytes of two digests, which have a fixed length: the time tells nothing about a secret. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = 0;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
