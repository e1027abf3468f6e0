import { describe, expect, it } from "vitest";
import { spreadOf } from "./spread.ts";

describe("the spread of a figure", () => {
  it("has the median of an odd number of values in any order", () => {
    expect(spreadOf([300, 5, 20])).toEqual({ median: 20, least: 5, most: 300 });
  });

  it("has the mean of the two middle values of an even number", () => {
    expect(spreadOf([4, 1, 100, 2])).toEqual({ median: 3, least: 1, most: 100 });
  });

  it("compares numbers, not their digits", () => {
    expect(spreadOf([10, 9, 100]).median).toBe(10);
  });

  it("doesn't change the given values", () => {
    const values = [3, 1, 2];
    spreadOf(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it("throws without a value", () => {
    expect(() => spreadOf([])).toThrow("without a value");
  });
});
