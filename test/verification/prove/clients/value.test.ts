import { describe, expect, it } from "vitest";
import { payloadOf, valueIn } from "./value.ts";

describe("a payload", () => {
  it("has the given length and holds its value alone", () => {
    expect(payloadOf("p1-17", 32)).toHaveLength(32);
    expect(valueIn(payloadOf("p1-17", 32))).toBe("p1-17");
  });

  it("is never shorter than its value", () => {
    expect(payloadOf("p1-17", 3)).toBe("p1-17");
    expect(valueIn("p1-17")).toBe("p1-17");
  });

  it("that isn't ours is given as it is", () => {
    expect(valueIn({ a: 1 })).toBe('{"a":1}');
  });
});
