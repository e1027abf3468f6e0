import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Coverage, extend } from "../../../src/features/cursors/coverage.ts";

const proof: fc.Arbitrary<Coverage> = fc
  .record({
    since: fc.nat({ max: 30 }),
    length: fc.nat({ max: 10 }),
    by: fc.constantFrom("ping", "recovery", "command"),
    atMs: fc.nat(),
  })
  .map(({ since, length, by, atMs }) => ({
    epoch: "e",
    since,
    offset: since + length,
    by,
    atMs,
  }));

const offsetsOf = ({ since, offset }: Coverage): number[] =>
  Array.from({ length: offset - since }, (_, index) => since + 1 + index);

describe("what a user is known to have got", () => {
  it("[CU10] claims only what a proof has claimed, in whatever order proofs come, and goes only forward", () => {
    fc.assert(
      fc.property(fc.array(proof, { minLength: 1 }), (proofs) => {
        const proven = new Set<number>();
        let kept: Coverage | undefined;
        for (const one of proofs) {
          const before = kept?.offset ?? 0;
          const next = extend(kept, one);
          for (const offset of offsetsOf(one)) proven.add(offset);
          expect(next.since).toBeLessThanOrEqual(next.offset);
          expect(offsetsOf(next).every((offset) => proven.has(offset))).toBe(true);
          expect(next.offset).toBeGreaterThanOrEqual(before);
          kept = next;
        }
      }),
    );
  });

  it("[CU10] loses nothing that joins", () => {
    fc.assert(
      fc.property(proof, proof, (first, second) => {
        const joined = extend(first, second);
        const touch = second.since <= first.offset && first.since <= second.offset;
        if (touch)
          expect(offsetsOf(joined)).toStrictEqual(
            [...new Set([...offsetsOf(first), ...offsetsOf(second)])].sort((a, b) => a - b),
          );
      }),
    );
  });

  it("[CU10] stays as it is where a proof says nothing new, and says how its offset is known", () => {
    const kept: Coverage = { epoch: "e", since: 3, offset: 9, by: "ping", atMs: 5 };
    const of = (since: number, offset: number): Coverage => ({
      epoch: "e",
      since,
      offset,
      by: "command",
      atMs: 8,
    });
    expect(extend(kept, of(4, 9))).toBe(kept);
    expect(extend(kept, of(0, 2))).toBe(kept);
    expect(extend(kept, of(20, 20))).toBe(kept);
    expect(extend(kept, of(0, 9))).toStrictEqual({ ...kept, since: 0 });
    expect(extend(kept, of(9, 12))).toStrictEqual({ ...of(3, 12) });
    expect(extend(kept, of(10, 12))).toStrictEqual(of(10, 12));
    expect(extend(of(20, 20), of(25, 25))).toStrictEqual(of(25, 25));
  });
});
