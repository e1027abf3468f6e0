import { describe, expect, it } from "vitest";
import { scaleFor } from "./scale.ts";

describe("the scale of an axis", () => {
  it("begins at 0 and has round ticks that enclose the values", () => {
    const { ticks, place, isLogarithmic } = scaleFor([3, 87]);
    expect(isLogarithmic).toBe(false);
    expect(ticks).toEqual([0, 20, 40, 60, 80, 100]);
    expect([place(0), place(50), place(100)]).toEqual([0, 0.5, 1]);
  });

  it("is logarithmic beyond two decades, and not at two", () => {
    expect(scaleFor([1, 100]).isLogarithmic).toBe(false);
    const { ticks, place } = scaleFor([10, 8_000]);
    expect(ticks).toEqual([10, 100, 1_000, 10_000]);
    expect(place(100)).toBeCloseTo(1 / 3, 9);
  });

  it("is linear if a value is zero", () => {
    expect(scaleFor([0, 8_000]).isLogarithmic).toBe(false);
    expect(scaleFor([0, 0]).place(0)).toBe(0);
  });
});
