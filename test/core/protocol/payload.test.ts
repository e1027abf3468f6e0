import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../../src/protocol/json/text.ts";
import {
  parseBase64,
  payloadBytes,
  payloadJson,
  payloadLength,
  payloadOf,
  payloadText,
} from "../../../src/protocol/payload.ts";
import { valid } from "./valid-json-text.ts";

const seed = { seed: 20_261_121, numRuns: 2_000 };

/** Mostly such bytes as could be taken for something else than they are. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.string({ unit: "binary", maxLength: 16 }).map(utf8),
  fc.json({ maxDepth: 2 }).map(utf8),
  fc
    .tuple(around(), fc.json({ maxDepth: 2 }), around())
    .map(([before, json, after]) => utf8(before + json + after)),
  fc.jsonValue({ maxDepth: 2 }).map((value) => utf8(JSON.stringify(value, undefined, 1))),
);

describe("the payload that bytes are", () => {
  it("[W7] has the same bytes, whatever they are", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const payload = payloadOf(bytes);
        expect(sameBytes(payloadBytes(payload), bytes)).toBe(true);
        expect(payloadLength(payload)).toBe(bytes.length);
      }),
      seed,
    );
  });

  it("[W7] is the one that a JSON codec makes of the same text", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const json = parseJsonText(text);
        expect(json).toBe(text);
        expect(payloadOf(utf8(text))).toBe(json);
      }),
      seed,
    );
  });

  it("[W7] is text only where it is JSON on one line and nothing else", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const payload = payloadOf(bytes);
        const isText = typeof payload === "string";
        expect(isText).toBe(isLineOfJson(bytes));
        expect(payload).toBe(isText ? decoded(bytes) : bytes);
      }),
      seed,
    );
  });

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["a space", utf8(" ")],
    ["a space before", utf8(" 1")],
    ["a space behind", utf8("1 ")],
    ["a tab before", utf8("\t1")],
    ["a line break behind", utf8("1\n")],
    ["a line break inside", utf8('{"a":\n1}')],
    ["a carriage return inside", utf8("[1,\r2]")],
    ["a byte order mark before", utf8("\u{feff}1")],
    ["a byte order mark alone", utf8("\u{feff}")],
    ["two values", utf8("1 2")],
    ["text without quotes", utf8("hello")],
    ["a string that isn't closed", utf8('"a')],
    ["a byte that UTF-8 hasn't", Uint8Array.of(0x22, 0xff, 0x22)],
    ["a surrogate in three bytes", Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ["a character that is cut off", Uint8Array.of(0x22, 0xc3, 0x22)],
    ["a character longer than it need be", Uint8Array.of(0x22, 0xc0, 0xa2, 0x22)],
    ["a zero", Uint8Array.of(0x31, 0x00)],
  ])("[W7] is the bytes themselves: %s", (_, bytes) => {
    expect(payloadOf(bytes)).toBe(bytes);
  });

  it("[W7] is only the part that a view shows", () => {
    const frame = utf8('xx{"a":1}yy');
    expect(payloadOf(frame.subarray(2, 9))).toBe('{"a":1}');
    expect(payloadOf(frame.subarray(1, 9))).toStrictEqual(utf8('x{"a":1}'));
  });
});

describe("a payload for JSON clients", () => {
  it("[W7] is JSON on one line, from which all can be had back", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const payload = payloadOf(bytes);
        const json = payloadJson(payload);
        expect(json).not.toMatch(/[\r\n]/);
        const value: unknown = JSON.parse(json);
        const meant = decodedJson(bytes);
        expect({ value }).toStrictEqual(meant ?? { value: Buffer.from(bytes).toString("base64") });
        expect(payloadText(payload)).toBe(meant === undefined ? undefined : json);
      }),
      seed,
    );
  });

  it("[W7] is a string of base64 where it isn't JSON", () => {
    expect(payloadJson(Uint8Array.of(0xfb, 0xff, 0x00))).toBe('"+/8A"');
    expect(payloadJson(utf8("hello"))).toBe('"aGVsbG8="');
    expect(payloadJson(new Uint8Array())).toBe('""');
    expect(payloadJson(utf8("\u{feff}1"))).toBe('"77u/MQ=="');
  });

  it("[W7] is put on one line where it is JSON on several", () => {
    const bytes = utf8('{\r\n "a": "x\\ny",\n "b": [1,\n2] }\n');
    expect(payloadJson(bytes)).toBe('{ "a": "x\\ny", "b": [1,2] }');
    expect(payloadText(bytes)).toBe(payloadJson(bytes));
  });

  it("[W7] is text as it is, also where its bytes came late", () => {
    const text = valid('{"a":1.0,"n":12345678901234567890}');
    expect(payloadJson(text)).toBe(text);
    expect(payloadJson(payloadBytes(text))).toBe(text);
    expect(payloadLength(valid('"é😀"'))).toBe(8);
  });

  it("[W7] has no text where it is bytes that aren't JSON", () => {
    for (const bytes of [utf8("hello"), utf8("\u{feff}1"), Uint8Array.of(0x22, 0xff, 0x22)]) {
      expect(payloadText(bytes)).toBeUndefined();
    }
  });
});

describe("base64", () => {
  it("[W7] is decoded to the bytes that it stands for", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const encoded = Buffer.from(bytes).toString("base64");
        expect(parseBase64(encoded)).toStrictEqual(bytes);
        expect(parseBase64(encoded.replaceAll("=", ""))).toStrictEqual(bytes);
      }),
      seed,
    );
  });

  it.each(["%", "a", "a===", "aGVsbG8-", "é"])(
    "[W7] is nothing where it isn't base64: %s",
    (text) => {
      expect(parseBase64(text)).toBeUndefined();
    },
  );
});

function around(): fc.Arbitrary<string> {
  return fc.constantFrom("", "", " ", "\t", "\n", "\r\n", "\u{feff}", "\u{a0}", "\u{2028}", "x");
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** As Node's own decoder has it; undefined where it isn't UTF-8. */
function decoded(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString("utf8");
  return sameBytes(Buffer.from(text), bytes) ? text : undefined;
}

function isLineOfJson(bytes: Uint8Array): boolean {
  const text = decoded(bytes);
  if (text === undefined || text !== text.trim() || /[\r\n]/.test(text)) return false;
  return decodedJson(bytes) !== undefined;
}

/** What JSON says; undefined where it isn't JSON. */
function decodedJson(bytes: Uint8Array): { readonly value: unknown } | undefined {
  const text = decoded(bytes);
  if (text === undefined) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Elsewhere than in `toEqual`, which takes its time for thousands of arrays. */
function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
