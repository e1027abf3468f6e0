import * as fc from "fast-check";
import type { FilterNode } from "../../../src/protocol/command.ts";
import type { Tags } from "../../../src/protocol/publication.ts";

/** A node with every field absent but these. */
export function filterNode(fields: Partial<FilterNode>): FilterNode {
  return { op: "", key: "", cmp: "", val: "", vals: [], nodes: [], ...fields };
}

/** Few keys, so that filters and tags meet; some are names that every object has. */
const anyKey = fc.constantFrom("a", "b", "__proto__", "constructor", "toString");

/** Text that begins, ends and holds others of its kind, and numbers in many spellings. */
const anyValue = fc.oneof(
  fc.stringMatching(/^[ab]{1,3}$/),
  fc.stringMatching(/^[-+]?0{0,2}\d{0,3}(\.\d{1,3}0{0,2})?$/).filter((text) => text !== ""),
  fc.constantFrom("-0", "1e3", ".5", "5.", "é", "9".repeat(40), `0.${"0".repeat(40)}1`),
);

/** Tags as parsed JSON has them: their keys are their own, whatever they are called. */
export const anyTags: fc.Arbitrary<Tags | undefined> = fc.option(
  fc
    .array(fc.tuple(anyKey, fc.oneof(anyValue, fc.constant(""))), { maxLength: 4 })
    .map((entries): Tags => Object.fromEntries(entries)),
  { nil: undefined },
);

const comparison = fc.oneof(
  fc.record({
    key: anyKey,
    cmp: fc.constantFrom("eq", "neq", "sw", "ew", "ct", "lt", "lte", "gt", "gte"),
    val: anyValue,
  }),
  fc.record({
    key: anyKey,
    cmp: fc.constantFrom("in", "nin"),
    vals: fc.array(fc.oneof(anyValue, fc.constant("")), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key: anyKey, cmp: fc.constantFrom("ex", "nex") }),
);

/** A filter that makes sense. */
export const soundFilter: fc.Arbitrary<FilterNode> = fc.letrec<{ readonly node: FilterNode }>(
  (tie) => ({
    node: fc.oneof(
      { maxDepth: 4, depthSize: "small", withCrossShrink: true },
      comparison.map(filterNode),
      fc
        .record({
          op: fc.constantFrom("and", "or"),
          nodes: fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
        })
        .map(filterNode),
      tie("node").map((node) => filterNode({ op: "not", nodes: [node] })),
    ),
  }),
).node;

const anyWord = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("", "and", "or", "not", "eq", "in", "nex", "ct", "gte") },
  { weight: 1, arbitrary: fc.string({ maxLength: 3 }) },
);

/** A filter of any sense or nonsense. */
export const anyFilter: fc.Arbitrary<FilterNode> = fc.letrec<{ readonly node: FilterNode }>(
  (tie) => ({
    node: fc.record(
      {
        op: anyWord,
        key: fc.oneof(anyKey, anyWord),
        cmp: anyWord,
        val: fc.oneof(anyValue, anyWord),
        vals: fc.array(anyWord, { maxLength: 2 }),
        nodes: fc.oneof(
          { maxDepth: 4, depthSize: "small", withCrossShrink: true },
          fc.constant([]),
          fc.array(tie("node"), { maxLength: 3 }),
        ),
      },
      { noNullPrototype: true },
    ),
  }),
).node;
