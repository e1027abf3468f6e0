import { describe, expect, it } from "vitest";
import { utf8Fits, utf8Length } from "../../../src/protocol/bytes.ts";

describe("a text's bytes", () => {
  it.each([
    ["", 0],
    ["a", 1],
    ["é", 2],
    ["日", 3],
    ["😀", 4],
  ])("[B1] counts %j as its bytes", (text, bytes) => {
    expect(utf8Length(text)).toBe(bytes);
  });

  it.each([
    ["", 0, true],
    ["a", 0, false],
    ["aaa", 3, true],
    ["aaaa", 3, false],
    ["é".repeat(50), 100, true],
    ["é".repeat(50), 99, false],
    ["日".repeat(33), 99, true],
    ["日".repeat(33), 98, false],
    ["😀".repeat(25), 100, true],
    ["😀".repeat(25), 99, false],
    ["\ud800", 3, true],
    ["\ud800", 2, false],
  ])("[B1] of %j fit into %i: %s", (text, bytesMax, fits) => {
    expect(utf8Fits(text, bytesMax)).toBe(fits);
  });
});
