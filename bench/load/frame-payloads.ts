/**
 * Assembles whole frames of one socket, for the few sockets that are watched. Ignores control frames and errors, which
 * the socket's frame counter handles.
 */
export class FramePayloads {
  #pending: Buffer = Buffer.alloc(0);

  /** Takes the next chunk, and gives the payloads of the text and binary frames that it completes. */
  take(chunk: Buffer): Buffer[] {
    const payloads: Buffer[] = [];
    // The chunk lies in a buffer that is reused.
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (let extent = extentOf(this.#pending); extent !== undefined;) {
      const { start, end } = extent;
      const opcode = (this.#pending[0] ?? 0) & 0x0f;
      if (opcode < 8) payloads.push(this.#pending.subarray(start, end));
      this.#pending = this.#pending.subarray(end);
      extent = extentOf(this.#pending);
    }
    return payloads;
  }
}

/** Where the payload of the first frame lies; undefined until the frame is complete. */
function extentOf(bytes: Buffer): { readonly start: number; readonly end: number } | undefined {
  const short = bytes[1];
  if (short === undefined) return undefined;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return undefined;
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const end = start + length;
  return bytes.length < end ? undefined : { start, end };
}
