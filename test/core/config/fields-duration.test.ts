import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDuration } from "../../../src/config/fields.ts";

const hour = 3_600_000;

describe("parseDuration", () => {
  it.each([
    ["0", 0],
    ["0s", 0],
    ["0h0m0s", 0],
    ["25s", 25_000],
    ["1m30s", 90_000],
    ["720h", 720 * hour],
    ["100ms", 100],
    ["1.5h", 1.5 * hour],
    [".5s", 500],
    ["1.s", 1_000],
    ["1.001s", 1_001],
    ["0.001s", 1],
    ["1h1m1s1ms", hour + 61_001],
    ["1s1h", hour + 1_000],
    ["87600h", 87_600 * hour],
  ])("takes %s for %i milliseconds", (text, ms) => {
    expect(parseDuration(text)).toEqual({ outcome: "duration", ms });
  });

  it.each([
    ["", "nothing"],
    ["25", "no unit"],
    ["s", "no number"],
    [".s", "no digits"],
    ["-1s", "negative"],
    ["+1s", "a sign"],
    [" 1s", "a space"],
    ["1s ", "a space at the end"],
    ["1s\n", "a line end"],
    ["1d", "a unit Go doesn't have"],
    ["1S", "an upper-case unit"],
    ["1us", "microseconds"],
    ["1µs", "microseconds"],
    ["1ns", "nanoseconds"],
    ["1,5h", "a comma"],
    ["1.5.5h", "two points"],
    ["1e3s", "an exponent"],
    ["0.5ms", "less than a millisecond"],
    ["0.0001s", "less than a millisecond"],
    ["87600h1ms", "over 10 years"],
    ["9".repeat(63) + "h", "far over 10 years"],
    ["0".repeat(64) + "s", "longer than any duration a person writes"],
    ["٣s", "digits that aren't ASCII"],
  ])("refuses %j: %s", (text) => {
    expect(parseDuration(text)).toEqual({ outcome: "bad" });
  });

  it("gives back every whole number of milliseconds, however it is split into units", () => {
    const parts = fc.record({
      h: fc.nat(80_000),
      m: fc.nat(1_000),
      s: fc.nat(1_000),
      ms: fc.nat(100_000),
    });
    fc.assert(
      fc.property(parts, ({ h, m, s, ms }) => {
        expect(parseDuration(`${h}h${m}m${s}s${ms}ms`)).toEqual({
          outcome: "duration",
          ms: h * hour + m * 60_000 + s * 1_000 + ms,
        });
      }),
      { seed: 20_261_120 },
    );
  });
});
