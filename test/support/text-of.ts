/** What is text in JSON, and bytes elsewhere: a payload, or a frame. Throws where it is bytes. */
export function textOf(either: string | Uint8Array): string {
  if (typeof either === "string") return either;
  throw new Error(`${either.byteLength} bytes, where there should be text`);
}
