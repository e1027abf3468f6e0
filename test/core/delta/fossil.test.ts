import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDelta } from "../../../src/delta/fossil.ts";
import { type Edited, editedBytes, editedText } from "./edited.ts";
import { noise } from "./noise.ts";
import { readDelta } from "./read-delta.ts";
import { applyWithSdk } from "./sdk-decoder.ts";

const mebibyte = 1_048_576;

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const strict = (bytes: Uint8Array): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

/** How long a delta is that the SDK made the target of, byte for byte; the target's own length where there is none. */
function deltaLength({ base, target }: Edited<Uint8Array>): number {
  const delta = createDelta(base, target);
  if (delta === undefined) return target.length;
  if (delta.length >= target.length) throw new Error("Longer than need be");
  if (!Buffer.from(target).equals(applyWithSdk(base, delta))) throw new Error("Another target");
  return delta.length;
}

/** The same for text, each part of whose delta has to be text as well. Decoding throws where it isn't. */
function textDeltaLength(text: Edited<string>): number {
  const base = utf8(text.base);
  const target = utf8(text.target);
  for (const part of readDelta(createDelta(base, target) ?? utf8("0\n"))) {
    if (part.command === "insert") strict(part.bytes);
    else {
      strict(base.subarray(0, part.offset));
      strict(base.subarray(part.offset, part.offset + part.length));
    }
  }
  return deltaLength({ base, target });
}

describe("what the SDK makes of a delta", () => {
  it("[D1] is the target, byte for byte, whatever the bytes are", () => {
    const property = fc.property(editedBytes, (edited) => {
      expect(deltaLength(edited)).toBeLessThanOrEqual(edited.target.length);
    });
    // Found at random: the equal beginning begins with what looks like the middle of a character.
    const base = Uint8Array.of(0x80, 0, 0, 0, 0, 0, 0, 1, 1, ...new Uint8Array(19));
    const target = Uint8Array.from([...base.subarray(0, 8), ...base.subarray(9)]);
    fc.assert(property, { numRuns: 1_000, examples: [[{ base, target }]] });
  });

  it("[D1] is the target of text, and each part of the delta is whole characters of both", () => {
    const property = fc.property(editedText, (edited) => {
      expect(textDeltaLength(edited)).toBeLessThanOrEqual(utf8(edited.target).length);
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it("[D1] is the target with a copy at every kind of character border", () => {
    const characters = ["a", "é", "è", "日", "旦", "👍", "👎", "\r\n"];
    const rest = "=".repeat(40);
    for (const before of characters) {
      for (const after of characters) {
        const base = rest + before + rest;
        const edited = { base, target: rest + after + rest };
        expect(textDeltaLength(edited)).toBeLessThan(before === after ? 20 : 30);
      }
    }
  });

  it("[D1] is the target where it is as large as a publication can be", () => {
    const base = noise(mebibyte, 1);
    const halves = [base.subarray(mebibyte / 2), base.subarray(0, mebibyte / 2)];
    expect(deltaLength({ base, target: Buffer.concat(halves) })).toBeLessThan(40);
    const sparse = Uint8Array.from(base);
    for (let place = 500; place < sparse.length; place += 100_000) sparse[place] = 7;
    expect(deltaLength({ base, target: sparse })).toBeLessThan(300);
    expect(deltaLength({ base, target: noise(mebibyte, 2) })).toBe(mebibyte);
  });
});

describe("the delta itself", () => {
  const rows = Array.from({ length: 8 }, (_, id) => `{"id":${id},"name":"user ${id * 7}"}`);
  const list = `[${rows.join(",")}]`;

  it.for([
    {
      name: "an insert before a copy, as Centrifugo's own",
      base: `{"n":1,"text":"the quick brown fox jumps over the lazy dog, once and again"}`,
      target: `{"n":2,"text":"the quick brown fox jumps over the lazy dog, once and again"}`,
      delta: '1C\n6:{"n":216@6,2XfDlJ;',
    },
    { name: "a base that is the target", base: list, target: list, delta: "3F\n3F@0,2660Th;" },
    {
      name: "more at the end",
      base: list,
      target: `${list.slice(0, -1)},"é"]`,
      delta: '3K\n3E@0,6:,"é"]19lFZg;',
    },
    {
      name: "less at the end",
      base: list,
      target: `[${rows.slice(0, 5).join(",")}]`,
      delta: "21\n20@0,1:]2BqQ2A;",
    },
    {
      name: "a part of the base",
      base: list,
      target: rows.slice(3, 6).join(","),
      delta: "1D\n1D@1D,161yhZ;",
    },
    { name: "the base twice", base: list, target: list + list, delta: "6U\n3F@0,3F@0,2U7t7Y;" },
    {
      name: "parts that changed places",
      base: list,
      target: `[${rows.toReversed().join(",")}]`,
      delta:
        '3F\nO:[{"id":7,"name":"user 49Z@2O,Q@27,Q@1i,H:3,"name":"user 21Z@l,P@W,J:0,"name":"user 0"}]2560ub;',
    },
    {
      name: "a changed last character of three bytes",
      base: `{"text":"ありがとうございます日本"}`,
      target: `{"text":"ありがとうございます日末"}`,
      delta: 'k\nf@0,5:末"}phkzk;',
    },
  ])("[D1] is golden for $name", ({ base, target, delta }) => {
    const created = createDelta(utf8(base), utf8(target));
    expect(created && strict(created)).toBe(delta);
    textDeltaLength({ base, target });
  });

  it.for([
    { name: "an empty target", base: list, target: "" },
    { name: "an empty base", base: "", target: list },
    { name: "both empty", base: "", target: "" },
    { name: "a target too short for a delta", base: list, target: '"tiny"' },
    { name: "nothing in common", base: list, target: "x".repeat(100) },
  ])("[D1] isn't made for $name", ({ base, target }) => {
    expect(createDelta(utf8(base), utf8(target))).toBeUndefined();
  });

  it("[D1] copies bytes that only look like the middle of characters", () => {
    const middles = noise(4_096, 3).map((byte) => 0x80 | (byte & 0x3f));
    const target = Uint8Array.from(middles);
    target[2_000] = 0;
    expect(deltaLength({ base: middles, target })).toBeLessThan(30);
  });

  it("[D1] finds what moved, and each of many small changes", () => {
    const base = Array.from({ length: 400 }, (_, id) => `{"id":${id},"value":${id * 977}}`);
    const target = base.toSpliced(0, 1).concat('{"id":400,"value":390800}');
    const window = { base: JSON.stringify(base), target: JSON.stringify(target) };
    expect(textDeltaLength(window)).toBeLessThan(90);
    const changed = base.map((row, id) => (id % 40 === 3 ? row.replace("value", "worth") : row));
    const sparse = { base: base.join(), target: changed.join() };
    expect(textDeltaLength(sparse)).toBeLessThan(10 * 25);
  });
});
