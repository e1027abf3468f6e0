import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { searchFor } from "../../../src/protocol/tags-filter.ts";

it("[D3] finds what is there, and nothing else", () => {
  const repeated = fc
    .tuple(anyOfTwo(6), fc.integer({ min: 1, max: 20 }), anyOfTwo(4))
    .map(([part, times, end]) => part.repeat(times) + end);
  const anyText = fc.oneof(anyOfTwo(60), repeated);
  const found = { yes: 0, no: 0 };
  fc.assert(
    fc.property(anyText, anyText, fc.nat(9), fc.boolean(), (one, other, skipped, within) => {
      const sought = within ? one.slice(skipped) || "a" : other;
      const expected = one.includes(sought);
      if (expected && sought.length > 16) found.yes++;
      if (!expected && sought.length > 16) found.no++;
      expect(searchFor(sought)(one)).toBe(expected);
    }),
    { seed: 20_261_121, numRuns: 5_000 },
  );
  expect(Math.min(found.yes, found.no)).toBeGreaterThan(300);
});

it("[D3] looks at each character a few times only, in the worst of cases", () => {
  const contains = searchFor(`${"a".repeat(4_000)}b${"a".repeat(4_000)}`);
  const looks = vi.spyOn(String.prototype, "charCodeAt");
  const found = contains("a".repeat(16_000));
  const times = looks.mock.calls.length;
  looks.mockRestore();
  expect(found).toBe(false);
  expect(times).toBeGreaterThan(16_000);
  expect(times).toBeLessThan(16_000 * 5);
});

function anyOfTwo(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength, size: "max" });
}
