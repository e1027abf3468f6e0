import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { type DescriptorUse, hasDescriptors } from "../../../src/access/server-descriptors.ts";

const max = 1_000;
const spare = max * limits.descriptorsSpare;
/** What is kept free from each use. */
const kept: readonly (readonly [DescriptorUse, number])[] = [
  ["stranger", 2 * spare],
  ["request", spare],
  ["known", spare / 2],
  ["call", spare / 2],
];

describe("the descriptors of a server", () => {
  it.each(kept)("[B1] [B10] [B30] keep from a %s: %i of 1,000", (use, free) => {
    // Of what is free beyond them, half is given away between two counts.
    const most = max - free - 2 * limits.descriptorsPerRequest;
    expect(hasDescriptors(use, { max, used: most, underWay: 1 })).toBe(true);
    expect(hasDescriptors(use, { max, used: most + 1, underWay: 1 })).toBe(false);
    expect(hasDescriptors(use, { max, used: most, underWay: 2 })).toBe(false);
  });
});
