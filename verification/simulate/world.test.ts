import { describe, expect, it } from "vitest";
import { planOf } from "./plan.ts";
import { run } from "./run.ts";

/**
 * Everything at once: clients that come, go, publish and recover; calls that are lost, late, repeated and overtaken; objects
 * that sleep, crash, and whose writes fail. What must hold in all of that the clients check as they hear, a model of each
 * channel as it answers, and the checker in the end.
 */
describe.each(Array.from({ length: 20 }, (_, block) => ({ first: block * 100 + 1 })))(
  "worlds with faults, from seed $first on",
  ({ first }) => {
    it("[L1] lose nothing, repeat nothing, forget nobody and keep nobody who left", () => {
      const found = Array.from({ length: 100 }, (_, index) => first + index).flatMap((seed) =>
        run(planOf(seed)).complaints.map((complaint) => `seed ${seed}: ${complaint}`),
      );
      expect(found).toEqual([]);
    });
  },
);
