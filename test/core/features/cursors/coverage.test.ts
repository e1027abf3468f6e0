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
import {
  addProof,
  addStretch,
  type Coverage,
  extend,
  leftOut,
  type Stretch,
  type UserProofs,
} from "../../../../src/features/cursors/coverage.ts";
import { cursorLimits } from "../../../../src/features/cursors/limits.ts";

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

const offsetsOf = ({ since, offset }: Stretch): number[] =>
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

/** All offsets of some stretches, in order. */
const allOf = (stretches: readonly Stretch[]): number[] =>
  [...new Set(stretches.flatMap(offsetsOf))].sort((one, other) => one - other);

const hasHoles = (stretches: readonly Stretch[]): boolean =>
  stretches.every(({ since }, index) => index === 0 || since > (stretches[index - 1]?.offset ?? 0));

describe("stretches of what a user has got", () => {
  it("[CU45] one is left out where two have a hole between them, and it is the earlier one", () => {
    expect(leftOut(undefined, of(1, 2))).toBeUndefined();
    expect(leftOut(of(0, 2), of(2, 4))).toBeUndefined();
    expect(leftOut(of(0, 2), of(3, 4))).toStrictEqual(of(0, 2));
    expect(leftOut(of(3, 4), of(0, 2))).toStrictEqual(of(0, 2));
    expect(leftOut(of(2, 2), of(3, 4))).toBeUndefined();
    expect(leftOut(of(0, 2), of(3, 3))).toBeUndefined();
    expect(leftOut(of(5, 5), of(0, 2))).toStrictEqual(of(0, 2));
  });

  it("[CU45] are kept in order with holes between them, and say all that was added and nothing else", () => {
    expect(() => {
      assert(
        property(array(proof, { minLength: 1 }), (proofs) => {
          const added = proofs.filter((one) => one.offset > one.since);
          let kept: readonly Stretch[] = [];
          for (const one of added) kept = addStretch(kept, one, Number.POSITIVE_INFINITY);
          return hasHoles(kept) && allOf(kept).join() === allOf(added).join();
        }),
      );
    }).not.toThrow();
  });

  it("[CU45] over their bound the two with the smallest hole between them become one", () => {
    const kept = [of(0, 1), of(4, 5), of(7, 9)];
    expect(addStretch(kept.slice(0, 2), of(7, 9), 3)).toStrictEqual(
      kept.map(({ since, offset }, index) => (index < 2 ? kept[index] : { since, offset })),
    );
    expect(addStretch(kept, of(20, 21), 3)).toStrictEqual([
      of(0, 1),
      { since: 4, offset: 9 },
      { since: 20, offset: 21 },
    ]);
  });

  it("[CU45] a census has all that the connections of a user prove, and as many stretches as are kept", () => {
    const proofs: UserProofs = new Map();
    for (const one of [of(0, 2), of(6, 8), of(3, 4), of(2, 3), of(9, 9)])
      addProof(proofs, "ann", one);
    expect(allOf(proofs.get("ann") ?? [])).toStrictEqual([1, 2, 3, 4, 7, 8]);
    for (let since = 20; since < 400; since += 2) addProof(proofs, "ann", of(since, since + 1));
    expect(proofs.get("ann")).toHaveLength(cursorLimits.stretchesMax);
    expect(proofs.get("ann")).toContainEqual(of(398, 399));
  });
});
