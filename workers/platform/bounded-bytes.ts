import { concatenated } from "../../src/protocol/bytes.ts";

/** Reads a whole body; if it is longer than so many bytes, stops reading and returns undefined. */
export async function boundedBytes(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concatenated(pieces);
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await reader.cancel();
      return undefined;
    }
    pieces.push(value);
  }
}
