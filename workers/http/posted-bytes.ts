/**
 * Reads a client's body of at most so many bytes.
 *
 * @returns undefined when it is longer
 */
export async function readPosted(
  request: Request,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  if (request.body === null) return new Uint8Array();
  if (Number(request.headers.get("Content-Length")) > bytesMax) return undefined;
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await reader.cancel();
      return undefined;
    }
    pieces.push(value);
  }
}

/** Undefined when the bytes are not UTF-8. A byte order mark is kept, so that it is refused: JSON has none. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // It throws on bad input, and only then.
  }
}

/** Whether a body is in a binary format, by its Content-Type. */
export function isBinary(request: Request): boolean {
  const [type = ""] = (request.headers.get("Content-Type") ?? "").split(";");
  return type.trim().toLowerCase() === "application/octet-stream";
}
