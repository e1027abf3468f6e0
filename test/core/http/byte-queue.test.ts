import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteQueue } from "../../../workers/http/stream-buffer.ts";

describe("bytes that wait for a reader", () => {
  const anyPiece = fc
    .tuple(fc.constantFrom(1, 30, 4_000, 4_096, 9_000), fc.nat(255))
    .map(([length, value]) => new Uint8Array(length).fill(value));

  it("[T3] come in their order, none lost or twice, and are counted", () => {
    const anyStep = fc.oneof(anyPiece, fc.constantFrom("take", "take", "clear"));
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const queue = new ByteQueue();
        let left: number[] = [];
        const seen: unknown[] = [];
        const expected: unknown[] = [];
        for (const step of steps) {
          if (typeof step !== "string") {
            queue.append(step);
            left.push(...step);
          } else if (step === "clear") {
            queue.clear();
            left = [];
          } else {
            const taken = [...(queue.shift() ?? [])];
            seen.push(taken, taken.length > 0);
            expected.push(left.slice(0, taken.length), left.length > 0);
            left = left.slice(taken.length);
          }
          seen.push(queue.bytes);
          expected.push(left.length);
        }
        expect(seen).toStrictEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it("[B1] take the memory that they are counted for, however small the pieces are", () => {
    const queue = new ByteQueue();
    const pieces = 4_096;
    for (let each = 0; each < pieces; each++) queue.append(new Uint8Array(32));
    let taken = 0;
    while (queue.shift() !== undefined) taken++;
    expect(taken).toBeLessThan(pieces / 100);
  });
});
