import { describe, expect, it } from "vitest";
import { complaintsOf } from "./checker.ts";
import { troubledWorld } from "./happenings.ts";

/**
 * Everything at once: clients that come, go, publish and recover; calls that are lost, late, repeated and overtaken; objects
 * that sleep, crash and close. What must hold in all of that the clients check as they hear, and the checker in the end.
 */
describe.each(Array.from({ length: 16 }, (_, block) => ({ first: block * 25 + 1 })))(
  "worlds in trouble, from seed $first on",
  ({ first }) => {
    it("[L1] lose nothing, repeat nothing, forget nobody and keep nobody who left", () => {
      const found = Array.from({ length: 25 }, (_, index) => first + index).flatMap((seed) =>
        complaintsOf(troubledWorld(seed)).map((complaint) => `seed ${seed}: ${complaint}`),
      );
      expect(found).toEqual([]);
    });
  },
);
