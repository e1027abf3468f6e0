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
