import { describe, expect, it } from "vitest";
import { nearestName } from "../../../src/config/section.ts";

const names = ["history_size", "history_ttl", "presence", "map", "name"];

describe("nearestName", () => {
  it.each([
    ["histry_size", "history_size", "a letter left out"],
    ["history_sizze", "history_size", "a letter too many"],
    ["histary_size", "history_size", "a letter replaced"],
    ["histroy_size", "history_size", "two letters swapped"],
    ["historySize", "history_size", "the other spelling of words"],
    ["precense", "presence", "two letters swapped at a distance"],
    ["mup", "map", "one edit in three letters"],
    ["map", "map", "the name itself"],
  ])("finds %s to be %s: %s", (name, nearest) => {
    expect(nearestName(name, names)).toBe(nearest);
  });

  it.each([
    ["", "nothing"],
    ["x", "one letter could be anything"],
    ["mxx", "two edits in three letters"],
    ["prxxxxce", "four edits"],
    ["completely_different", "nothing like it"],
  ])("finds nothing near %j: %s", (name) => {
    expect(nearestName(name, names)).toBeUndefined();
  });

  it("gives the first of two equally near names", () => {
    expect(nearestName("abcx", ["abcd", "abce"])).toBe("abcd");
    expect(nearestName("abcx", ["abce", "abcd"])).toBe("abce");
  });

  it("does no work for a name longer than any known one", () => {
    const long = "a".repeat(65);
    expect(nearestName(long, [long])).toBeUndefined();
    expect(nearestName("a".repeat(64), ["a".repeat(63)])).toBe("a".repeat(63));
  });
});
