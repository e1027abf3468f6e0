/**
 * Makes the SHA-256 of a text. It has the same length for every secret, so that comparing two digests tells nothing of
 * a secret (rule A7).
 */
export function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}

/**
 * A text in a form of one length for all texts that fit in it, which is compared in constant time as a digest is, and made
 * without waiting (rule A7).
 *
 * @returns undefined if the text doesn't fit; the bytes are overwritten by the next call
 */
export function fixedForm(text: string): Uint8Array | undefined {
  form.fill(0);
  const { read, written } = encoder.encodeInto(text, formText);
  if (read < text.length) return undefined;
  form[0] = written >> 8;
  form[1] = written & 0xff;
  return form;
}

const encoder = new TextEncoder();
/** The length of the text, so that a text isn't equal to the same with zeros behind it; then the text. */
const form = new Uint8Array(2 + 254);
const formText = form.subarray(2);

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
