import { describe, expect, it } from "vitest";
import { spreadOf } from "./spread.ts";

describe("the spread of a figure", () => {
  it("has the middle one of an odd number of values, however they are ordered", () => {
    expect(spreadOf([300, 5, 20])).toEqual({ median: 20, least: 5, most: 300 });
  });

  it("has the mean of the two in the middle of an even number", () => {
    expect(spreadOf([4, 1, 100, 2])).toEqual({ median: 3, least: 1, most: 100 });
  });

  it("compares numbers, not their digits", () => {
    expect(spreadOf([10, 9, 100]).median).toBe(10);
  });

  it("leaves the values as they came", () => {
    const values = [3, 1, 2];
    spreadOf(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it("refuses to say something of nothing", () => {
    expect(() => spreadOf([])).toThrow("without a value");
  });
});
