import { describe, expect, it } from "vitest";
import { isBeyond, storedCursor, cursorBefore, cursorOf } from "../../../src/gateway/cursor.ts";
import { at, entry, said } from "./followed-channel.ts";

describe("where a gateway stands", () => {
  it.each([
    { instance: 3, sequence: 0, epoch: "e", offset: 1, beyond: true },
    { instance: 1, sequence: 9, epoch: "e", offset: 9, beyond: false },
    { instance: 2, sequence: 6, epoch: "e", offset: 4, beyond: true },
    { instance: 2, sequence: 4, epoch: "e", offset: 9, beyond: false },
    { instance: 2, sequence: 5, epoch: "e", offset: 6, beyond: true },
    { instance: 2, sequence: 5, epoch: "e", offset: 5, beyond: false },
  ])(
    "[L7] is further by instance, then by number, then by offset: $instance $sequence $offset",
    ({ beyond, ...kept }) => {
      expect(isBeyond(kept, { instance: 2, sequence: 5, position: at(5) })).toBe(beyond);
    },
  );

  it("[L7] is the same after it was noted, with history and without", () => {
    for (const position of [{}, { position: at(5) }]) {
      const reached = { instance: 2, sequence: 5, ...position };
      expect(cursorOf(storedCursor(reached))).toEqual(reached);
    }
  });

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
