import { assert, json as anyJson, nat, pre, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonFault } from "../../../src/config/json-fault.ts";

describe("the place where a text stops being JSON", () => {
  it.each([
    ["", 1, 1, "nothing at all"],
    ["{", 1, 2, "no end"],
    ['{"a":1', 1, 7, "no end after a value"],
    ['{"a":1,}', 1, 8, "a comma too many in an object"],
    ["[1,]", 1, 4, "a comma too many in an array"],
    ['{"a":1 "b":2}', 1, 8, "a comma missing"],
    ['{"a" 1}', 1, 6, "a colon missing"],
    ['{"a":hunter2}', 1, 6, "a text without quotes"],
    ["{'a':1}", 1, 2, "single quotes"],
    ["{a:1}", 1, 2, "a key without quotes"],
    ['{"a":01}', 1, 6, "a number with a leading zero"],
    ['{"a":1.}', 1, 6, "half a number"],
    ['{"a":[1}', 1, 8, "the wrong bracket"],
    ['{"a":1}}', 1, 8, "a bracket too many"],
    ['{"a":1} x', 1, 9, "something behind the end"],
    ['{\n  "a": true,\n  "b": tru\n}', 3, 8, "half a word in the third line"],
    ['{\r\n"a": "no end\n}', 2, 6, "a string without an end"],
    ['["\\x"]', 1, 2, "an escape that doesn't exist"],
    ['{"a":1,"b"}', 1, 11, "no value"],
    ["{,}", 1, 2, "a comma alone"],
  ])("[A8] of %j is line %i, column %i: %s", (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(jsonFault(text)).toEqual({ line, column });
  });

  it("[A8] is never before the end of what could still become JSON", () => {
    assert(
      property(anyJson(), nat(), (json, cut) => {
        const begun = json.slice(0, cut % (json.length + 1));
        pre(!isWhole(begun));
        const { line, column } = jsonFault(begun);
        expect(line).toBe(1);
        // A string, a word or a number that was cut is named by its beginning.
        const rest = begun.slice(column - 1);
        expect(rest).toMatch(/^(?:"(?:[^"\\]|\\.)*\\?|[-\w.+]+|)$/su);
      }),
      { seed: 15, numRuns: 2_000 },
    );
  });

  it("[B1] is found in deep nesting", () => {
    expect(jsonFault("[".repeat(100_000))).toEqual({ line: 1, column: 100_001 });
  });
});

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
