/** A payload or frame that must be text. Throws for bytes. */
export function textOf(either: string | Uint8Array): string {
  if (typeof either === "string") return either;
  throw new Error(`${either.byteLength} bytes, where there should be text`);
}
