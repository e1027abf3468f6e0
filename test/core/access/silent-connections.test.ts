import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { SilentConnections } from "../../../src/access/server-descriptors.ts";

const descriptors = 80;
/** The silent connections that this many descriptors allow. */
const max = descriptors * limits.descriptorsSilent;

interface Case {
  readonly name: string;
  /** An object's node, its count, and when its oldest was opened. */
  readonly reports: readonly (readonly [string, number, number])[];
  readonly closesIn: string | undefined;
}

const cases: readonly Case[] = [
  { name: "nothing was reported", reports: [], closesIn: undefined },
  { name: "one place is left", reports: [["a", max - 1, 5]], closesIn: undefined },
  { name: "one object has all", reports: [["a", max, 5]], closesIn: "a" },
  {
    name: "the objects have too many together",
    reports: [
      ["a", max - 1, 7],
      ["b", 1, 5],
    ],
    closesIn: "b",
  },
  {
    name: "the oldest is reported last",
    reports: [
      ["a", 1, 7],
      ["b", 1, 8],
      ["c", max, 6],
    ],
    closesIn: "c",
  },
  {
    name: "a report replaces the one before it",
    reports: [
      ["a", max, 5],
      ["a", max - 1, 6],
    ],
    closesIn: undefined,
  },
  {
    name: "an object has none any more",
    reports: [
      ["a", 1, 5],
      ["b", max, 6],
      ["a", 0, Number.POSITIVE_INFINITY],
    ],
    closesIn: "b",
  },
];

describe("the silent connections of a server", () => {
  it.each(cases)("[B1] [B31] give way to another one where $name", ({ reports, closesIn }) => {
    const silent = new SilentConnections(descriptors);
    for (const [node, count, firstAtMs] of reports) {
      const opened = Array.from({ length: count }, (_, index) => firstAtMs + index);
      silent.report(
        node,
        opened.map((openedAtMs) => ({ identity: { openedAtMs } })),
      );
    }
    expect(silent.objectToClose()).toBe(closesIn);
  });
});
