import {
  type Arbitrary,
  array,
  assert,
  constantFrom,
  nat,
  pre,
  property,
  record,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { type Coverage, extend } from "../../../src/features/cursors/coverage.ts";

const proof: Arbitrary<Coverage> = record({
  since: nat({ max: 30 }),
  length: nat({ max: 10 }),
  by: constantFrom("ping", "recovery", "command"),
  atMs: nat(),
}).map(({ since, length, by, atMs }) => ({
  epoch: "e",
  since,
  offset: since + length,
  by,
  atMs,
}));

const offsetsOf = ({ since, offset }: Coverage): number[] =>
  Array.from({ length: offset - since }, (_, index) => since + 1 + index);

const of = (since: number, offset: number): Coverage => ({
  epoch: "e",
  since,
  offset,
  by: "command",
  atMs: 8,
});

/** Offsets that are claimed one after the other, and whether none was claimed that no proof had claimed. */
function foldAll(proofs: readonly Coverage[]) {
  const proven = new Set<number>();
  let kept: Coverage | undefined;
  let [isSound, isForward] = [true, true];
  for (const one of proofs) {
    const before = kept?.offset ?? 0;
    for (const offset of offsetsOf(one)) proven.add(offset);
    kept = extend(kept, one);
    isSound &&= offsetsOf(kept).every((offset) => proven.has(offset));
    isForward &&= kept.offset >= before && kept.since <= kept.offset;
  }
  return { isSound, isForward };
}

describe("what a user is known to have got", () => {
  it("[CU10] claims only what a proof has claimed, in whatever order proofs come, and goes only forward", () => {
    expect(() => {
      assert(
        property(array(proof, { minLength: 1 }), (proofs) => {
          const { isSound, isForward } = foldAll(proofs);
          return isSound && isForward;
        }),
      );
    }).not.toThrow();
  });

  it("[CU10] loses nothing that joins", () => {
    expect(() => {
      assert(
        property(proof, proof, (first, second) => {
          pre(second.since <= first.offset && first.since <= second.offset);
          const all = new Set([...offsetsOf(first), ...offsetsOf(second)]);
          const joined = offsetsOf(extend(first, second));
          return joined.length === all.size && joined.every((offset) => all.has(offset));
        }),
      );
    }).not.toThrow();
  });

  it("[CU10] stays as it is where a proof says nothing new, and says how its offset is known", () => {
    const kept: Coverage = { epoch: "e", since: 3, offset: 9, by: "ping", atMs: 5 };
    expect(extend(kept, of(4, 9))).toBe(kept);
    expect(extend(kept, of(0, 2))).toBe(kept);
    expect(extend(kept, of(20, 20))).toBe(kept);
    expect(extend(kept, of(0, 9))).toStrictEqual({ ...kept, since: 0 });
    expect(extend(kept, of(9, 12))).toStrictEqual(of(3, 12));
    expect(extend(kept, of(10, 12))).toStrictEqual(of(10, 12));
    expect(extend(of(20, 20), of(25, 25))).toStrictEqual(of(25, 25));
  });
});
