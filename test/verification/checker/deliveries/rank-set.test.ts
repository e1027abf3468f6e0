import * as fc from "fast-check";
import { expect, it } from "vitest";
import { RankSet } from "./rank-set.ts";

it("a rank set holds exactly the delivered ranks, in whatever order they came", () => {
  const added = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 });
  fc.assert(
    fc.property(added, (all) => {
      const ranks = new RankSet();
      const model = new Set<number>();
      for (const rank of all) {
        expect(ranks.add(rank)).toBe(!model.has(rank));
        model.add(rank);
        for (let other = -1; other <= 31; other++) {
          expect(ranks.has(other)).toBe(model.has(other));
        }
      }
    }),
  );
});
