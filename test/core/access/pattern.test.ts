import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pattern } from "../../../src/access/pattern.ts";
import { compiled } from "../../support/compiled.ts";
import { limits } from "../../../src/limits.ts";

function within(depth: number): string {
  return `${"(".repeat(depth)}a${")".repeat(depth)}`;
}

describe("a pattern", () => {
  it.each([
    ["^a*a*a*a*a*a*a*a*a*b$", "a"],
    ["^([a-z]+)+$", "a"],
    ["^(a|aa)+$", "a"],
    ["^(.*)*x$", "y"],
    ["(x+x+)+y", "x"],
    [String.raw`^(\w+\s?)*$`, "a"],
    ["a{0,500}a{0,400}b", "a"],
  ])("[B9] %s takes time in proportion to the name", (source, character) => {
    const startedMs = performance.now();
    expect(compiled(source).test(`${character.repeat(5_000)}!`)).toBe(false);
    // JavaScript's own expression would take from seconds to for ever.
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  it.each([
    ["a(?=b)", "lookaround"],
    ["a(?!b)", "lookaround"],
    ["(?<=a)b", "lookaround"],
    ["(?<!a)b", "lookaround"],
    ["^(?:(?!b)a)$", "lookaround"],
    [String.raw`(a)\1`, "backreference"],
    [String.raw`(?<name>a)\k<name>`, "backreference"],
    ["(", "invalid"],
    ["a**", "invalid"],
    [String.raw`\_`, "invalid"],
    ["a{2000}", "too-large"],
    ["((a{100}){100}){1000000000}", "too-large"],
    ["a{0,1000000000}", "too-large"],
  ])("[B9] can't be %s: %s", (source, fault) => {
    expect(Pattern.compile(source)).toBe(fault);
  });

  it.each([
    "(?:){300000000}",
    "(?:(?:(?:){100000}){100000}){100000}",
    "(?:a{0}){900000000}",
    `(?:${"(?:)|".repeat(3_000)}a){900}`,
    `(?:${"(?:a{0})".repeat(2_000)}a){900}`,
    `(?:${"|".repeat(16_000)}a){900}`,
  ])("[B19] is compiled and compared at once: %.40s", (source) => {
    const startedMs = performance.now();
    expect(compiled(source).test("")).toBe(compiled(source).test("b"));
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  it("[B19] may have as many parentheses within each other as the limit says", () => {
    expect(compiled(within(limits.patternDepthMax)).test("a")).toBe(true);
    expect(Pattern.compile(within(limits.patternDepthMax + 1))).toBe("too-deep");
  });

  it("[B9] may take as many steps as the limit says", () => {
    expect(compiled(`a{${limits.patternStepsMax - 1}}`).test("a".repeat(1_998))).toBe(false);
    expect(compiled(`a{${limits.patternStepsMax - 1}}`).test("a".repeat(1_999))).toBe(true);
  });

  const sources = [
    "^[a-z]+$",
    "^(a|b)c$",
    "^([a-z]+)?$",
    "^[0-9a-f]{2}(-[0-9a-f]{1,2}){3}$",
    "^(a{2})+$",
    "^()*$",
    String.raw`^[ab]+(\.[ab]+)*$`,
    "a|^b|c$|^$",
    String.raw`\bab\b`,
    String.raw`a\Bb`,
    String.raw`^(?:,\p{L}+)*$`,
    "^(🐭[a-z]*)*$",
    String.raw`^(\(\+\)\|)+$`,
    String.raw`^([\]+|])+$`,
    String.raw`^(a\u{1F42D}\u0041\x41\p{L}\d)+$`,
    "(?<name>a)+b",
    "^(?i:aB)c$",
    "(?i:a(?-i:B))c",
    "(?m:^a$)",
    "^a.b$",
    "(?s:^a.b$)",
    "(?:^|,)a(?:$|,)",
    "(?:a?){3}b",
    "(?:a*?)*?b",
    "(?:^a*)*b",
    "^[^a]b{0}c?$",
    String.raw`(?i:\bk\b)`,
    ".",
    "",
  ];

  it.each(sources)("[B9] matches what JavaScript's own expression does: %s", (source) => {
    const pattern = compiled(source);
    const own = new RegExp(source, "u");
    const character = fc.constantFrom(
      ..."aabbcAB09f-,.()+| \n\u2028kK\u212Aé🐭\uD83D|]".split(""),
      "🐭",
    );
    const texts = fc.array(character, { maxLength: 12 }).map((all) => all.join(""));
    const same = (text: string): void => {
      expect(pattern.test(text)).toBe(own.test(text));
    };
    fc.assert(fc.property(texts, same), { numRuns: 300 });
    for (const text of ["", "a", "ab", "aab", "b", "c", "aa", "🐭", "🐭a", "a\nb", "x,a,x"])
      same(text);
  });

  it("[B9] drops what it remembers when that is too much, and matches as before", () => {
    const pattern = compiled(String.raw`^\p{L}{1,40}\d$`);
    for (let index = 0; index < 3_000; index++) {
      const letters = String.fromCodePoint(0x4e00 + index).repeat(30);
      expect(pattern.test(`${letters}1`)).toBe(true);
      expect(pattern.test(letters)).toBe(false);
    }
  });
});
