import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tagsFilter } from "../../../src/protocol/tags-filter.ts";
import { limits } from "../../../src/limits.ts";
import type { FilterNode } from "../../../src/protocol/command.ts";
import type { Tags } from "../../../src/protocol/publication.ts";
import { anyFilter, anyTags, filterNode, soundFilter } from "./any-filter.ts";

const seed = 20_261_121;

/** Whether a filter that makes sense wants these tags. */
function wants(node: FilterNode, tags: Tags | undefined): boolean {
  const filter = tagsFilter(node);
  if (filter === undefined) throw new Error("the filter makes no sense");
  return filter.matches(tags);
}

const exists = filterNode({ key: "k", cmp: "ex" });

/** An operator with its operand, the value of the tag or undefined where it is missing, and whether that is wanted. */
const comparisons: readonly (readonly [Partial<FilterNode>, string | undefined, boolean])[] = [
  [{ cmp: "eq", val: "x" }, "x", true],
  [{ cmp: "eq", val: "x" }, "X", false],
  [{ cmp: "neq", val: "x" }, "x", false],
  [{ cmp: "neq", val: "x" }, "y", true],
  [{ cmp: "in", vals: ["x", "y"] }, "y", true],
  [{ cmp: "in", vals: ["x", "y"] }, "z", false],
  [{ cmp: "nin", vals: ["x", "y"] }, "y", false],
  [{ cmp: "nin", vals: ["x", "y"] }, "z", true],
  [{ cmp: "ex" }, "x", true],
  [{ cmp: "ex" }, undefined, false],
  [{ cmp: "nex" }, "x", false],
  [{ cmp: "nex" }, undefined, true],
  [{ cmp: "sw", val: "ab" }, "abc", true],
  [{ cmp: "sw", val: "ab" }, "cab", false],
  [{ cmp: "ew", val: "ab" }, "cab", true],
  [{ cmp: "ew", val: "ab" }, "abc", false],
  [{ cmp: "ct", val: "ab" }, "cabc", true],
  [{ cmp: "ct", val: "a.b" }, "axb", false],
  [{ cmp: "lt", val: "10" }, "9", true],
  [{ cmp: "lt", val: "10" }, "10", false],
  [{ cmp: "lte", val: "10" }, "10.00", true],
  [{ cmp: "lte", val: "10" }, "10.01", false],
  [{ cmp: "gt", val: "10" }, "11", true],
  [{ cmp: "gt", val: "10" }, "10", false],
  [{ cmp: "gte", val: "-10" }, "-10", true],
  [{ cmp: "gte", val: "-10" }, "-11", false],
];

describe("a tags filter", () => {
  it.each(comparisons)(
    "[D3] compares as its operator says: %j with %j",
    (fields, value, wanted) => {
      const node = filterNode({ key: "k", ...fields });
      const others = { other: "x" };
      expect(wants(node, value === undefined ? others : { ...others, k: value })).toBe(wanted);
      expect(wants(node, value === undefined ? undefined : { k: value })).toBe(wanted);
      expect(wants(filterNode({ op: "not", nodes: [node] }), { k: value ?? "" })).toBe(
        !wants(node, { k: value ?? "" }),
      );
    },
  );

  it("[D3] looks at a publication's own tags, whatever they are called", () => {
    for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const node = filterNode({ key, cmp: "ex" });
      expect(wants(node, { k: "v" })).toBe(false);
      expect(wants(node, Object.fromEntries([[key, "v"]]))).toBe(true);
    }
  });

  it("[D3] agrees with a naive evaluator on any filter", () => {
    const answers = { yes: 0, no: 0 };
    fc.assert(
      fc.property(soundFilter, anyTags, (node, tags) => {
        const expected = naive(node, tags);
        if (expected) answers.yes++;
        else answers.no++;
        expect(wants(node, tags)).toBe(expected);
      }),
      { seed, numRuns: 5_000 },
    );
    expect(Math.min(...Object.values(answers))).toBeGreaterThan(1_000);
  });

  it("[D3] is called the same when it is equal, and otherwise not", () => {
    fc.assert(
      fc.property(soundFilter, soundFilter, (one, other) => {
        const text = tagsFilter(one)?.text;
        expect(tagsFilter(reordered(one))?.text).toBe(text);
        const same = JSON.stringify(reordered(one)) === JSON.stringify(reordered(other));
        expect(tagsFilter(other)?.text === text).toBe(same);
      }),
      { seed, numRuns: 1_000 },
    );
  });
});

/** A filter of so many nodes. */
function broad(nodes: number): FilterNode {
  return filterNode({ op: "and", nodes: Array.from({ length: nodes - 1 }, () => exists) });
}

const leaf = { key: "k", cmp: "eq", val: "v" };

describe("a tags filter that makes no sense", () => {
  it.each<[string, Partial<FilterNode>]>([
    ["nothing", {}],
    ["an unknown operation", { op: "xor", nodes: [exists] }],
    ["an operation in capitals", { op: "AND", nodes: [exists] }],
    ["an unknown comparison", { key: "k", cmp: "like", val: "v" }],
    ["no comparison", { key: "k", val: "v" }],
    ["the name of what every object has", { key: "k", cmp: "constructor", val: "v" }],
    ["no key", { cmp: "eq", val: "v" }],
    ["no key to look up", { cmp: "in", vals: ["v"] }],
    ["no value", { key: "k", cmp: "eq" }],
    ["no number", { key: "k", cmp: "gt" }],
    ["nothing to begin with", { key: "k", cmp: "sw" }],
    ["several values for one", { ...leaf, vals: ["v"] }],
    ["no values", { key: "k", cmp: "in" }],
    ["one value for several", { key: "k", cmp: "nin", val: "v", vals: ["v"] }],
    ["a value for none", { key: "k", cmp: "ex", val: "v" }],
    ["values for none", { key: "k", cmp: "nex", vals: ["v"] }],
    ["a comparison of nodes", { ...leaf, nodes: [exists] }],
    ["and of nothing", { op: "and" }],
    ["or of nothing", { op: "or" }],
    ["not of nothing", { op: "not" }],
    ["not of two", { op: "not", nodes: [exists, exists] }],
    ["an operation on a key", { op: "and", key: "k", nodes: [exists] }],
    ["an operation that compares", { op: "or", cmp: "eq", nodes: [exists] }],
    ["an operation on a value", { op: "not", val: "v", nodes: [exists] }],
    ["an operation on values", { op: "and", vals: ["v"], nodes: [exists] }],
    ["sense and nonsense", { op: "or", nodes: [exists, filterNode({})] }],
  ])("[D4] is none: %s", (_, fields) => {
    const node = filterNode(fields);
    expect(tagsFilter(node)).toBeUndefined();
    expect(tagsFilter(filterNode({ op: "not", nodes: [node] }))).toBeUndefined();
  });

  it("[D4] asks for a tag without a name, but may do so, as with Centrifugo", () => {
    expect(wants(filterNode({ cmp: "ex" }), { "": "v" })).toBe(true);
    expect(wants(filterNode({ cmp: "nex" }), { "": "v" })).toBe(false);
  });

  it("[D4] is none beyond so many levels and nodes", () => {
    const nested = (levels: number): FilterNode =>
      levels === 1 ? exists : filterNode({ op: "not", nodes: [nested(levels - 1)] });
    expect(tagsFilter(nested(limits.filterDepthMax))).toBeDefined();
    expect(tagsFilter(nested(limits.filterDepthMax + 1))).toBeUndefined();
    expect(tagsFilter(broad(limits.filterNodesMax))).toBeDefined();
    expect(tagsFilter(broad(limits.filterNodesMax + 1))).toBeUndefined();
  });

  it("[D4] is found out for any tree, without an exception", () => {
    const found = { sense: 0, nonsense: 0 };
    fc.assert(
      fc.property(anyFilter, anyTags, (node, tags) => {
        const filter = tagsFilter(node);
        if (filter === undefined) found.nonsense++;
        else found.sense++;
        expect(filter === undefined || typeof filter.matches(tags) === "boolean").toBe(true);
      }),
      { seed, numRuns: 20_000 },
    );
    expect(found.nonsense).toBeGreaterThan(10_000);
    expect(found.sense).toBeGreaterThan(50);
  });
});

/** The same filter, its fields in another order. */
function reordered({ op, key, cmp, val, vals, nodes }: FilterNode): FilterNode {
  return { nodes: nodes.map(reordered), vals, val, cmp, key, op };
}

/** The definition of docs/protocol.md 3.2, without precomputation. */
function naive(node: FilterNode, tags: Tags | undefined): boolean {
  const { op, key, cmp, val, vals, nodes } = node;
  if (op === "and") return nodes.every((each) => naive(each, tags));
  if (op === "or") return nodes.some((each) => naive(each, tags));
  if (op === "not") return !nodes.some((each) => naive(each, tags));
  const entry = Object.entries(tags ?? {}).find(([name]) => name === key);
  if (cmp === "in" || cmp === "nin") return vals.includes(entry?.[1] ?? "") === (cmp === "in");
  if (cmp === "nex" || cmp === "neq")
    return entry === undefined || (cmp === "neq" && entry[1] !== val);
  if (entry === undefined) return false;
  const [, value] = entry;
  if (cmp === "ex") return true;
  if (cmp === "eq") return value === val;
  if (cmp === "sw") return value.slice(0, val.length) === val;
  if (cmp === "ew") return value.length >= val.length && value.slice(-val.length) === val;
  if (cmp === "ct") return value.split(val).length > 1;
  const [number, bound] = [scaled(value), scaled(val)];
  if (number === undefined || bound === undefined) return false;
  if (number === bound) return cmp === "lte" || cmp === "gte";
  return number < bound === (cmp === "lt" || cmp === "lte");
}

/** A decimal as a whole number of very small parts. */
function scaled(text: string): bigint | undefined {
  const [, sign, whole, fraction = ""] = /^([-+]?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const parts = BigInt(whole + fraction.padEnd(60, "0"));
  return sign === "-" ? -parts : parts;
}
