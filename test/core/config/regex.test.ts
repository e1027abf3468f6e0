import { describe, expect, it } from "vitest";
import { patternFault } from "../../../src/config/regex.ts";

describe("a pattern for names from clients", () => {
  it.each([
    // Groups that are not repeated, or that match in one way.
    "^[a-z]+$",
    "^(a|b)c$",
    "^([a-z]+)$",
    "^([a-z]+)?$",
    "^([a-z]+){1}$",
    "^([a-z]+){0,1}$",
    "^(abc)*$",
    "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    "^(a{2})+$",
    "^()*$",
    "",
    // Lists: one separator to a round, which nothing else in it matches.
    String.raw`^[a-z]+#\d+(,\d+)*$`,
    String.raw`^[a-z]+(\.[a-z]+)*$`,
    "^([a-z]+-)*$",
    "^(-[a-z]{1,2}){2}$",
    String.raw`^(,(\d+))*$`,
    String.raw`^(?:,\p{L}+)*$`,
    "^(🐭[a-z]*)*$",
    // Escapes and classes, in which nothing has a meaning.
    String.raw`^(\(\+\)\|)+$`,
    String.raw`^(\(?=\))$`,
    "^([a+|b*(?=c)])+$",
    String.raw`^([\]+|])+$`,
    String.raw`^([\\+|])+$`,
    String.raw`^(a\u{1F42D}\u0041\x41\cA\p{L}\d)+$`,
    String.raw`^\0$`,
    "^(?<name>a)+$",
    "^(?i:a)+$",
  ])("[B1] may be %s", (pattern) => {
    expect(new RegExp(pattern, "u").flags).toBe("u");
    expect(patternFault(pattern)).toBeUndefined();
  });

  it.each([
    "^([a-z]+)+$",
    "^([a-z]*)*$",
    "^([a-z]+)*?$",
    "^([a-z]+){2,}$",
    "^([a-z]+){30}$",
    "^([a-z]?){30}$",
    "^([a-z]{1,3})+$",
    "(a|aa)+",
    "(a|b)*",
    "^(?:a+)+$",
    "^(?<name>a+)+$",
    "^(?i:a+)+$",
    "^((a+))+$",
    "^((a|b))+$",
    "^(((a)?))+$",
    "^([xy](a+))+$",
    "^(a+)?(b+)+$",
    String.raw`^(\p{L}+)+$`,
    String.raw`^(\++)+$`,
    String.raw`^([\]]+)+$`,
    // Not lists: a separator that is missing, repeated, or matched by another part, and two parts that vary.
    String.raw`^((,)?\d+)*$`,
    "^(,+,)*$",
    "^(-[a-z]+-)*$",
    "^(,[^;]+)*$",
    "^(..+)*$",
    "^(^a+)*$",
    String.raw`^(\..+)*$`,
    String.raw`^(,\d*\d*)*$`,
    String.raw`^(,\d+|x)*$`,
    "^(?i:(A[a-z]+)*)$",
    String.raw`^(a\u{61}+)*$`,
    String.raw`^(a\x61+)*$`,
  ])("[B1] may not be %s, which repeats what varies", (pattern) => {
    expect(new RegExp(pattern, "u").flags).toBe("u");
    expect(patternFault(pattern)).toBe("nested-repetition");
  });

  it.each(["a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", "((?=a)a)", "^(?:(?!b)a)$"])(
    "[B1] may not be %s, which looks around",
    (pattern) => {
      expect(new RegExp(pattern, "u").flags).toBe("u");
      expect(patternFault(pattern)).toBe("lookaround");
    },
  );

  it.each([String.raw`(a)\1`, String.raw`(?<name>a)\k<name>`, String.raw`(a)(b)\2`])(
    "[B1] may not be %s, which refers back",
    (pattern) => {
      expect(new RegExp(pattern, "u").flags).toBe("u");
      expect(patternFault(pattern)).toBe("backreference");
    },
  );
});
