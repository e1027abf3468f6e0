import { expect, it } from "vitest";
import { blockBytes, hashBlock, spread } from "../../../src/delta/match.ts";
import { createDelta } from "../../../src/delta/fossil.ts";
import type { Edited } from "./edited.ts";
import { noise } from "./noise.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const zeros = (length: number): Uint8Array => new Uint8Array(length);

const repeated = (length: number, pattern: Uint8Array): Uint8Array =>
  Uint8Array.from({ length }, (_, place) => pattern[place % pattern.length] ?? 0);

/** The same with another byte every so often, at each of which a new search begins. */
const interrupted = (bytes: Uint8Array, every: number): Uint8Array =>
  bytes.map((byte, place) => (place % every === every - 1 ? 0xfe : byte));

/**
 * A block that begins as zeros do and has their hash, in as many bits as count for the lengths below: it is compared with zeros
 * at every place, at length and in vain.
 */
function collidingBlock(): Uint8Array {
  const block = zeros(blockBytes);
  for (let tail = 1; tail < 2 ** 32; tail++) {
    new DataView(block.buffer).setUint32(blockBytes - 4, tail);
    if (spread(hashBlock(block, 0)) >>> 17 === 0) return block;
  }
  throw new Error("No such block");
}

const twins = (pattern: Uint8Array, every: number) => (length: number) => {
  const base = repeated(length, pattern);
  return { base, target: interrupted(base, every) };
};

it.for<{ name: string; make: (length: number) => Edited<Uint8Array> }>([
  { name: "one byte", make: twins(zeros(1), 97) },
  { name: "one byte, edited rarely", make: twins(zeros(1), 30_011) },
  { name: "a short period", make: twins(noise(7, 4), 1_009) },
  { name: "a period of a block", make: twins(noise(16, 4), 40) },
  { name: "a long period", make: twins(noise(4_001, 4), 1_009) },
  { name: "nothing in common", make: (n) => ({ base: noise(n, 5), target: noise(n, 6) }) },
  {
    name: "runs that grow",
    make: (n) => {
      const base = zeros(n);
      for (let root = 0; root * root < n; root++) base[root * root] = 1;
      return { base, target: interrupted(zeros(n), 509) };
    },
  },
  {
    name: "equal hashes of unequal blocks",
    make: (n) => ({ base: repeated(n, collidingBlock()), target: zeros(n) }),
  },
  {
    name: "equal hashes and little to search in",
    make: (n) => ({ base: repeated(n / 64, collidingBlock()), target: zeros(n) }),
  },
])("[D1] takes work in proportion to the length, whatever it is made of: $name", ({ make }) => {
  for (const length of [16_384, 65_536, 262_144]) {
    const { base, target } = make(length);
    const work = { steps: 0 };
    createDelta(base, target, work);
    expect(work.steps).toBeGreaterThan(target.length / 2);
    expect(work.steps).toBeLessThan(13 * (base.length + target.length));
  }
});

it.for([
  { name: "one place", edits: [['"id":1000', '"id":-1']] },
  {
    name: "two near places",
    edits: [
      ['"id":1000', '"id":-1'],
      ['"id":1001', '"id":-2'],
    ],
  },
] as const)("[D1] takes little more than comparing for changes in $name", ({ edits }) => {
  const base = JSON.stringify(Array.from({ length: 2_000 }, (_, id) => ({ id, value: id * 7 })));
  let target = base;
  for (const [before, after] of edits) target = target.replace(before, after);
  const work = { steps: 0 };
  expect(createDelta(utf8(base), utf8(target), work)?.length).toBeLessThan(60);
  expect(work.steps).toBeLessThan(target.length + 200);
});
