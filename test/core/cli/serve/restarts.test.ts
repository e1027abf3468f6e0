import { describe, expect, it } from "vitest";
import { failedStartsMax, Restarts } from "../../../../cli/serve/restarts.ts";

describe("workerd that ends by itself", () => {
  it("[B12] starts again at once, and after a growing wait if it ends soon again and again", () => {
    const restarts = new Restarts();
    const waits = Array.from({ length: 8 }, () => restarts.afterEnd(1_000));
    expect(waits).toEqual([0, 250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(restarts.afterEnd(59_999)).toBe(5_000);
    expect(restarts.afterEnd(60_000)).toBe(0);
  });

  it("[B12] doesn't start again if it has never served", () => {
    expect(new Restarts().afterEnd(undefined)).toBeUndefined();
  });

  it("[B12] doesn't start again after too many starts in a row without an answer", () => {
    const restarts = new Restarts();
    restarts.afterEnd(100_000);
    for (let start = 1; start < failedStartsMax; start++)
      expect(restarts.afterEnd(undefined)).toBeDefined();
    expect(restarts.afterEnd(100_000)).toBeDefined();
    for (let start = 1; start < failedStartsMax; start++)
      expect(restarts.afterEnd(undefined)).toBeDefined();
    expect(restarts.afterEnd(undefined)).toBeUndefined();
  });
});
