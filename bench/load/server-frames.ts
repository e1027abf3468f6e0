import * as fc from "fast-check";

/** A frame as a server may send it. */
export interface ServerFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export const ping = "{}";
const tilde = 0x7e;

/**
 * Frames of all kinds and of sizes around the limits of the three kinds of length, including lengths whose own bytes
 * look like markers.
 */
export const serverFrames: fc.Arbitrary<ServerFrame[]> = fc.array(
  fc.oneof(
    fc.record({ opcode: fc.constantFrom(0, 1, 2), payload: payloadOf(fc.nat({ max: 20 })) }),
    fc.record({
      opcode: fc.constantFrom(1, 2),
      payload: payloadOf(
        fc.constantFrom(0, 1, 2, tilde - 1, tilde, tilde + 1, 0x7e7e, 65_535, 65_536, 0x01_7e_7e),
      ),
    }),
    fc.record({ opcode: fc.constantFrom(8, 9, 10), payload: payloadOf(fc.nat({ max: 125 })) }),
    fc.constant({ opcode: 1, payload: Buffer.from(ping) }),
  ),
  { maxLength: 6 },
);

/** The frame's bytes (RFC 6455, section 5.2), not masked. */
export function encoded({ opcode, payload }: ServerFrame): Buffer {
  const { length } = payload;
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(BigInt(length));
  const lengthBytes =
    length < 126
      ? Buffer.from([length])
      : length < 65_536
        ? Buffer.from([126, ...long.subarray(6)])
        : Buffer.from([127, ...long]);
  return Buffer.concat([Buffer.from([0x80 | opcode]), lengthBytes, payload]);
}

/** Mostly constant bytes, with markers here and there. */
function payloadOf(length: fc.Arbitrary<number>): fc.Arbitrary<Buffer> {
  return fc
    .tuple(length, fc.array(fc.double({ min: 0, max: 0.999, noNaN: true })))
    .map(([size, places]) => {
      const payload = Buffer.alloc(size, "x");
      for (const place of places) if (size > 0) payload[Math.floor(place * size)] = tilde;
      return payload;
    });
}
