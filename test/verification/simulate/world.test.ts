import { describe, expect, it } from "vitest";
import { planOf } from "./plan.ts";
import { run } from "./run.ts";

/**
 * Everything at once: clients that connect, leave, publish and recover; calls that are lost, late, repeated and
 * reordered; objects that hibernate, crash, and whose writes fail. The clients check the rules as they receive, a model
 * checks each channel's answers, and the checker checks the whole history.
 */
describe.each(Array.from({ length: 20 }, (_, block) => ({ first: block * 100 + 1 })))(
  "worlds with faults, from seed $first on",
  ({ first }) => {
    it("[L1] lose nothing, repeat nothing, forget no subscriber and keep no client that left", () => {
      const found = Array.from({ length: 100 }, (_, index) => first + index).flatMap((seed) =>
        run(planOf(seed)).complaints.map((complaint) => `seed ${seed}: ${complaint}`),
      );
      expect(found).toEqual([]);
    });
  },
);
