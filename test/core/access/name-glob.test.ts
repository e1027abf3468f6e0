import { describe, expect, it } from "vitest";
import { compileGlob } from "../../../src/access/name-glob.ts";

function matches(glob: string, name: string): boolean {
  const compiled = compileGlob(glob);
  if (compiled === undefined) throw new Error("not a glob");
  if (compiled.matches(name) && !name.startsWith(compiled.prefix)) throw new Error("wrong prefix");
  return compiled.matches(name);
}

describe("a glob for channels' names", () => {
  it.each([
    ["", "news", true],
    ["", "", true],
    ["news", "news", true],
    ["news", "news2", false],
    ["news:*", "news:", true],
    ["news:*", "news:a\nb", true],
    ["news:*", "old-news:a", false],
    ["*:a", "x:y:a", true],
    ["a**b", "a--b", true],
    ["?", "é", true],
    ["?", "😀", true],
    ["?", "", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["[a-c]x", "bx", true],
    ["[a-c]x", "dx", false],
    ["[!a-c]x", "dx", true],
    ["[!a-c]x", "bx", false],
    ["[^]]", "^]", true],
    ["[^a]", "^", true],
    ["[a^]", "^", true],
    ["{news,chat}:1", "chat:1", true],
    ["{news,chat}:1", "chat,news:1", false],
    ["{a*,b{c,d}}e", "bde", true],
    ["{a*,b{c,d}}e", "axxe", true],
    ["{a*,b{c,d}}e", "be", false],
    [String.raw`a\*`, "a*", true],
    [String.raw`a\*`, "ab", false],
    ["a.b?", "axbc", false],
    ["(a|b)?", "(a|b)c", true],
    ["a,b}?", "a,b}c", true],
  ] as const)("[U24] %j matches %j: %s", (glob, name, expected) => {
    expect(matches(glob, name)).toBe(expected);
  });

  it.each(["[a", "{a", "{a,{b}", "[]", "[z-a]", "a\\", "?".repeat(3_000)])(
    "[U24] isn't %.10j",
    (glob) => {
      expect(compileGlob(glob)).toBeUndefined();
    },
  );

  it("[U24] takes time in proportion to a name, whatever it is", () => {
    const glob = `${"{a,a}*".repeat(20)}?b`;
    expect(matches(glob, "a".repeat(250))).toBe(false);
  });
});
