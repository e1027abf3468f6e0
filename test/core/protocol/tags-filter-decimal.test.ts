import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareDecimals, parseDecimal } from "../../../src/protocol/tags-filter.ts";

/** Below 0, 0 or above 0, or undefined where one of them is no number. */
function order(one: string, other: string): number | undefined {
  const [first, second] = [parseDecimal(one), parseDecimal(other)];
  if (first === undefined || second === undefined) return undefined;
  return Math.sign(compareDecimals(first, second));
}

describe("a decimal", () => {
  it.each([
    ["1", "2", -1],
    ["10", "9", 1],
    ["1.5", "1.50", 0],
    ["0.5", "0.45", 1],
    ["0.05", "0.1", -1],
    ["007", "7", 0],
    ["+7", "7", 0],
    ["-7", "7", -1],
    ["-7", "-8", 1],
    ["-0.1", "-0.11", 1],
    ["-0", "0", 0],
    ["-0.00", "+000", 0],
    ["0", "-0.001", 1],
    ["9007199254740993", "9007199254740992", 1],
    ["0.1000000000000000000000000000001", "0.1", 1],
    ["1".repeat(500), "1".repeat(499), 1],
    [`${"9".repeat(400)}.1`, `${"9".repeat(400)}.01`, 1],
  ])("[D3] is compared as the number it is: %s with %s", (one, other, expected) => {
    expect(order(one, other)).toBe(expected);
    expect(order(other, one)).toBe(0 - expected);
  });

  it.each([
    [""],
    ["-"],
    ["+"],
    ["."],
    [".5"],
    ["-.5"],
    ["5."],
    ["1.2.3"],
    ["1e3"],
    ["0x10"],
    ["1_000"],
    ["1,5"],
    [" 1"],
    ["1 "],
    ["1\n"],
    ["--1"],
    ["١"],
    ["NaN"],
    ["Infinity"],
  ])("[D3] isn't made of %j", (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });

  it("[D3] is compared as whole numbers of any size are", () => {
    const anyWhole = fc.oneof(fc.bigInt({ min: -20n, max: 20n }), fc.bigInt());
    const anyPlaces = fc.nat(30);
    fc.assert(
      fc.property(anyWhole, anyWhole, anyPlaces, (one, other, places) => {
        const expected = one < other ? -1 : Number(one > other);
        expect(order(shifted(one, places), shifted(other, places))).toBe(expected);
      }),
      { seed: 20_261_121, numRuns: 2_000 },
    );
  });
});

/** A whole number with its point moved to the left. */
function shifted(value: bigint, places: number): string {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, "0");
  const sign = value < 0n ? "-" : "";
  const point = digits.length - places;
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
