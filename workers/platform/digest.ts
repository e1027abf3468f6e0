/**
 * Makes the SHA-256 of a text. It has the same length for every secret, so that comparing two digests tells nothing of
 * a secret (rule A7).
 */
export function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
