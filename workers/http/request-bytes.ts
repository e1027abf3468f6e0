import { boundedBytes } from "../platform/bounded-bytes.ts";

/**
 * Reads a request's body of at most so many bytes; undefined when it is longer. One of a stated length is read in one piece,
 * which takes a fraction of the time; the stated length is not relied on.
 */
export async function requestBytes(
  { body, headers }: Request,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  const statedBytes = Number(headers.get("Content-Length"));
  if (statedBytes > bytesMax) return undefined;
  const reader = statedBytes > 0 ? byteReader(body) : undefined;
  return reader === undefined ? boundedBytes(body, bytesMax) : readStated(reader, statedBytes);
}

/** A body of so many bytes; undefined when it turns out to be longer. */
async function readStated(
  reader: ReadableStreamBYOBReader,
  statedBytes: number,
): Promise<Uint8Array | undefined> {
  // There is room for one more byte, which an honest body doesn't have.
  const { value } = await reader.readAtLeast(statedBytes, new Uint8Array(statedBytes + 1));
  if (value === undefined || value.byteLength <= statedBytes) return value ?? new Uint8Array();
  await reader.cancel();
  return undefined;
}

/** Bodies that came over the network have one; those that another Worker makes need not. */
function byteReader(body: Request["body"]): ReadableStreamBYOBReader | undefined {
  try {
    return body?.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}
