/** A text frame of a client, as bytes. */
export function textFrame(text: string): Buffer {
  return clientFrame(0x81, Buffer.from(text));
}

/** A pong frame with the payload of the ping: at most 125 bytes. */
export function pongFrame(payload: Buffer): Buffer {
  return clientFrame(0x8a, payload);
}

/** A close frame with the code of a client that leaves of its own will. */
export function closeFrame(): Buffer {
  return clientFrame(0x88, Buffer.from([1_000 >> 8, 1_000 & 0xff]));
}

/** The mask of zeros is as legal as any other, and leaves the payload as it is. */
function clientFrame(firstByte: number, payload: Buffer): Buffer {
  return Buffer.concat([header(firstByte, payload.length), Buffer.alloc(4), payload]);
}

function header(firstByte: number, length: number): Buffer {
  if (length < 126) return Buffer.from([firstByte, masked | length]);
  if (length < 65_536) return Buffer.from([firstByte, masked | 126, length >> 8, length & 0xff]);
  const long = Buffer.alloc(10);
  long[0] = firstByte;
  long[1] = masked | 127;
  long.writeBigUInt64BE(BigInt(length), 2);
  return long;
}

const masked = 0x80;
