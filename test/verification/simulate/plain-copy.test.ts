import { describe, expect, it } from "vitest";
import { plainCopy } from "./plain-copy.ts";
import { Timeline } from "./timeline.ts";

describe("a copy of data that one object sends to another", () => {
  it("equals a structured clone, and shares nothing with the original", () => {
    const original = {
      text: "a",
      list: [1, null, undefined, { version: 2n }],
      map: new Map([["key", [true]]]),
    };
    const copy = plainCopy(original);
    expect(copy).toEqual(structuredClone(original));
    expect(copy.list).not.toBe(original.list);
    expect(copy.list[3]).not.toBe(original.list[3]);
    expect(copy.map.get("key")).not.toBe(original.map.get("key"));
  });

  it.each([{ of: () => 1 }, { of: Symbol("a") }, { of: new Timeline(0) }, { of: [new Date()] }])(
    "throws for data that can't be sent",
    (original) => {
      expect(() => plainCopy(original)).toThrow(TypeError);
    },
  );
});
