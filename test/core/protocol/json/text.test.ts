import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementTexts, memberText, parseJsonText } from "../../../../src/protocol/json/text.ts";
import { jsonText, keys, objectText, space } from "../random-json-text.ts";

const nestingDepth = 100_000;

describe("parsing JSON text", () => {
  it.each(["", " ", "{", "undefined", "NaN", "01", "'a'", '"\n"', "{}{}", "1\n2", "\ufeff1"])(
    "[W2] refuses %j, which is not JSON",
    (text) => {
      expect(parseJsonText(text)).toBeUndefined();
    },
  );

  it("[W2] keeps the meaning and loses the line breaks of any JSON", () => {
    fc.assert(
      fc.property(jsonText, space(), space(), (text, before, after) => {
        const taken = parseJsonText(before + text + after);
        expect(taken).toBe(text.replaceAll(/[\r\n]/g, ""));
        expect(JSON.parse(taken ?? "")).toStrictEqual(JSON.parse(text));
      }),
      { seed: 1 },
    );
  });

  it("[W2] takes nesting of any depth", () => {
    const deep = "[".repeat(nestingDepth) + "]".repeat(nestingDepth);
    expect(parseJsonText(deep)).toBe(deep);
  });
});

describe("a member's text", () => {
  it("[W2] is the whole document without its surroundings when the path is empty", () => {
    expect(memberText(' \n{ "a":1}\n')).toBe('{ "a":1}');
  });

  it("[W2] is missing when the name is, or when something on the way is no object", () => {
    const json = '{"a":{"b":"{\\"c\\":1}"},"list":[{"c":1}],"n":null}';
    expect(memberText(json, "c")).toBeUndefined();
    expect(memberText(json, "a", "c")).toBeUndefined();
    expect(memberText(json, "a", "b", "c")).toBeUndefined();
    expect(memberText(json, "list", "c")).toBeUndefined();
    expect(memberText(json, "list", "0")).toBeUndefined();
    expect(memberText(json, "n", "c")).toBeUndefined();
    expect(memberText("{}", "a")).toBeUndefined();
    expect(memberText("{ }", "toString")).toBeUndefined();
  });

  it("[W2] is found under a key spelled with escapes", () => {
    expect(memberText(String.raw`{"d\u0061ta":1}`, "data")).toBe("1");
    expect(memberText(String.raw`{"data":1,"d\u0061ta":2}`, "data")).toBe("2");
    expect(memberText(String.raw`{"\t":1}`, "\\t")).toBeUndefined();
    expect(memberText(String.raw`{"\t":1}`, "\t")).toBe("1");
  });

  it("[W2] ends at the right quote, however many backslashes stand before it", () => {
    for (let count = 0; count < 40; count++) {
      const backslashes = "\\\\".repeat(count);
      const value = `"${backslashes}\\"x${backslashes}\\"}],${backslashes}"`;
      expect(memberText(`{"a":${value},"b":{"c":[${value},1]}}`, "a")).toBe(value);
      expect(memberText(`{"a":${value},"b":{"c":[${value},1]}}`, "b", "c")).toBe(`[${value},1]`);
    }
  });

  it("[W2] is found beside and within nesting of any depth", () => {
    const deep = "[".repeat(nestingDepth) + "]".repeat(nestingDepth);
    expect(memberText(`{"a":${deep},"b":1}`, "b")).toBe("1");
    expect(memberText(`{"a":${deep},"b":1}`, "a")).toBe(deep);
  });

  it("[W2] takes a megabyte of escapes, keys or backslashes without quadratic work", () => {
    const strings = ['\\"', "\\\\", '\\\\\\"'].map((unit) => `"${unit.repeat(250_000)}"`);
    for (const value of strings) {
      expect(memberText(`{"a":${value},"b":1}`, "b")).toBe("1");
      expect(memberText(`{"a":${value},"b":1}`, "a")).toBe(value);
    }
    const many = String.raw`"\u0061":0,`.repeat(100_000);
    expect(memberText(`{${many}"b":1}`, "a")).toBe("0");
  });

  it("[W2] is what JSON.parse finds at the path", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...keys), jsonText), { maxLength: 4 }),
        fc.array(fc.constantFrom(...keys), { maxLength: 3 }),
        (members, path) => {
          const json = objectText(members);
          const text = memberText(json, ...path);
          const expected = walk(JSON.parse(json), path);
          expect(text === undefined ? undefined : { value: JSON.parse(text) }).toStrictEqual(
            expected,
          );
        },
      ),
      { seed: 2, numRuns: 2_000 },
    );
  });

  it("[W2] is what the sender wrote, but for line breaks", () => {
    fc.assert(
      fc.property(jsonText, jsonText, space(), space(), (value, other, before, after) => {
        const json = `{"x":${other},"a":{"y":${other},"b"${after}:${before}${value}${after}},"z":${other}}`;
        expect(memberText(json, "a", "b")).toBe(value.replaceAll(/[\r\n]/g, ""));
      }),
      { seed: 3, numRuns: 1_000 },
    );
  });
});

describe("an array's element texts", () => {
  it("[W2] are none for an empty array", () => {
    expect(elementTexts('{"a":{"b":[ ]}}', "a", "b")).toEqual([]);
  });

  it("[W2] are missing when there is no array at the path", () => {
    expect(elementTexts('{"a":{"0":1}}', "a")).toBeUndefined();
    expect(elementTexts('{"a":"[1]"}', "a")).toBeUndefined();
    expect(elementTexts('{"a":null}', "a")).toBeUndefined();
    expect(elementTexts('{"a":[1]}', "b")).toBeUndefined();
  });

  it("[W2] are what the sender wrote, but for line breaks", () => {
    fc.assert(
      fc.property(fc.array(jsonText, { maxLength: 6 }), space(), (values, gap) => {
        const json = `{"a":[${gap}${values.join(`${gap},${gap}`)}${gap}]}`;
        expect(elementTexts(json, "a")).toEqual(
          values.map((value) => value.replaceAll(/[\r\n]/g, "")),
        );
      }),
      { seed: 4 },
    );
  });
});

function walk(root: unknown, path: readonly string[]): { value: unknown } | undefined {
  let value = root;
  for (const name of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const member = Object.getOwnPropertyDescriptor(value, name);
    if (member === undefined) return undefined;
    value = member.value;
  }
  return { value };
}
