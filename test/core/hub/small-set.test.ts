import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SmallSet } from "../../../src/hub/small-set.ts";

describe("a small set", () => {
  it("[F2] behaves like a set of any size, and lists its members in the order of their addition", () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(14)), { maxLength: 80 });
    fc.assert(
      fc.property(steps, (all) => {
        const set = new SmallSet<number>();
        const model = new Set<number>();
        for (const [comes, member] of all) {
          if (comes) {
            set.add(member);
            model.add(member);
          } else {
            set.delete(member);
            model.delete(member);
          }
          expect(set.size).toBe(model.size);
          expect(set.has(member)).toBe(comes);
          expect([...set.members]).toEqual([...model]);
          expect(set.list).toEqual([...model]);
        }
      }),
    );
  });

  it.each([1, 20])("[F2] doesn't change a list of %i during a loop over it", (count) => {
    const set = new SmallSet<number>();
    for (let member = 0; member < count; member++) set.add(member);
    const { list } = set;
    set.add(100);
    set.delete(0);
    expect(list).toHaveLength(count);
  });
});
