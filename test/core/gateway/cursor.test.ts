import { describe, expect, it } from "vitest";
import { isBeyond, cursorBefore } from "../../../src/gateway/cursor.ts";
import { at, entry, said } from "./support/followed-channel.ts";

describe("a gateway's cursor", () => {
  it.each([
    { instance: 3, sequence: 0, offset: 1, beyond: true },
    { instance: 1, sequence: 9, offset: 9, beyond: false },
    { instance: 2, sequence: 6, offset: 4, beyond: true },
    { instance: 2, sequence: 4, offset: 9, beyond: false },
    { instance: 2, sequence: 5, offset: 6, beyond: true },
    { instance: 2, sequence: 5, offset: 5, beyond: false },
  ])(
    "[L7] is further by instance, then by number, then by offset: $instance $sequence $offset",
    ({ beyond, offset, ...counts }) => {
      const cursor = { ...counts, position: at(offset) };
      expect(isBeyond(cursor, { instance: 2, sequence: 5, position: at(5) })).toBe(beyond);
    },
  );

  it("[L7] before a batch is before its first publication in the stream, or at its top", () => {
    const batch = { v: 1, channel: "news", instance: 2, first: 7, certain: true } as const;
    const sequence = 6;
    const before = { instance: 2, sequence };
    expect(cursorBefore({ ...batch, entries: [said("1")] })).toEqual(before);
    expect(cursorBefore({ ...batch, entries: [said("1"), entry(5)], top: at(9) })).toEqual({
      ...before,
      position: at(4),
    });
    expect(cursorBefore({ ...batch, entries: [said("1")], top: at(9) })).toEqual({
      ...before,
      position: at(9),
    });
  });
});
