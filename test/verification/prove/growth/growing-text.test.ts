import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../../support/random.ts";
import { growingText, pieceOf } from "./growing-text.ts";

describe("a text that grows", () => {
  it("is cut into pieces that are whole characters, and together the text", () => {
    const whole = growingText("t-1", 100);
    const seeds = fc.property(fc.integer(), (seed) => {
      const random = new Random(seed);
      let text = "";
      while (text.length < whole.length) {
        const piece = pieceOf(whole, text.length, random);
        expect(piece.isWellFormed()).toBe(true);
        text += piece;
      }
      expect(text).toBe(whole);
    });
    fc.assert(seeds, { numRuns: 200 });
  });

  it("has no six characters twice", () => {
    const whole = growingText("t-1", 300);
    const seen = new Set<string>();
    for (let at = whole.indexOf("100"); at + 6 <= whole.length; at++)
      seen.add(whole.slice(at, at + 6));
    expect(seen.size).toBe(whole.length - whole.indexOf("100") - 5);
  });
});
