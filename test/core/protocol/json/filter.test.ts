import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import type { FilterNode } from "../../../../src/protocol/command.ts";
import { JsonFields } from "../../../../src/protocol/json/fields.ts";
import { decodeFilter } from "../../../../src/protocol/json/decode.ts";
import type { WireValue } from "../../../../src/protocol/wire-value.ts";
import { anyFilter, filterNode } from "../any-filter.ts";

/** What a subscribe with this filter decodes to, and what is complained of. */
function decoded(tf: WireValue): {
  readonly filter: FilterNode | undefined;
  readonly complaints: readonly string[];
} {
  const complaints: string[] = [];
  return {
    filter: decodeFilter(new JsonFields({ tf }, ["subscribe"], complaints, undefined)),
    complaints,
  };
}

/** A filter of so many nodes. */
function broad(count: number): WireValue {
  return { nodes: Array.from({ length: count - 1 }, () => ({})) };
}

describe("decoding a tags filter", () => {
  it("[D4] gives every field that is absent, or null, its meaning of absence", () => {
    expect(decoded(null)).toStrictEqual({ filter: undefined, complaints: [] });
    expect(decoded({})).toStrictEqual({ filter: filterNode({}), complaints: [] });
    const fields = { op: null, key: null, cmp: null, val: null, vals: null, nodes: null, more: 1 };
    expect(decoded(fields)).toStrictEqual({ filter: filterNode({}), complaints: [] });
  });

  it("[D4] reads any tree as it is", () => {
    fc.assert(
      fc.property(anyFilter, (filter) => {
        expect(decoded(JSON.parse(JSON.stringify(filter)))).toStrictEqual({
          filter,
          complaints: [],
        });
      }),
      { seed: 20_261_121, numRuns: 500 },
    );
  });

  it.each<[WireValue, string]>([
    ["and", "subscribe.tf is not an object"],
    [[], "subscribe.tf is not an object"],
    [new Uint8Array(2), "subscribe.tf is not an object"],
    [{ op: 1 }, "subscribe.tf.op is not a string"],
    [{ key: 1 }, "subscribe.tf.key is not a string"],
    [{ cmp: {} }, "subscribe.tf.cmp is not a string"],
    [{ val: 1 }, "subscribe.tf.val is not a string"],
    [{ val: new Uint8Array(2) }, "subscribe.tf.val is not a string"],
    [{ vals: "v" }, "subscribe.tf.vals is not an array"],
    [{ vals: { 0: "v" } }, "subscribe.tf.vals is not an array"],
    [{ vals: ["v", 1, 2] }, "subscribe.tf.vals has an entry that is not a string"],
    [{ vals: [null] }, "subscribe.tf.vals has an entry that is not a string"],
    [{ nodes: {} }, "subscribe.tf.nodes is not an array"],
    [{ nodes: [{}, [], 1] }, "subscribe.tf.nodes has an entry that is not an object"],
    [{ nodes: [null] }, "subscribe.tf.nodes has an entry that is not an object"],
    [{ nodes: [{ nodes: [{ key: 1 }] }] }, "subscribe.tf.nodes.nodes.key is not a string"],
  ])("[D4] complains of %j", (tf, complaint) => {
    expect(decoded(tf).complaints).toStrictEqual([complaint]);
  });

  it("[B1] complains of a filter over so many levels", () => {
    const nested = (levels: number): WireValue =>
      levels === 1 ? { nodes: [] } : { nodes: [nested(levels - 1)] };
    expect(decoded(nested(limits.filterDepthMax)).complaints).toStrictEqual([]);
    expect(decoded(nested(limits.filterDepthMax + 1)).complaints).toStrictEqual([
      `subscribe.tf is over ${limits.filterDepthMax} deep`,
    ]);
    expect(decoded(nested(5_000)).complaints).toHaveLength(1);
  });

  it("[B1] complains of a filter with over so many nodes, and reads no more of them", () => {
    expect(decoded(broad(limits.filterNodesMax)).complaints).toStrictEqual([]);
    const { filter, complaints } = decoded(broad(20_000));
    expect(complaints).toStrictEqual([`subscribe.tf has over ${limits.filterNodesMax} nodes`]);
    expect(filter?.nodes).toHaveLength(limits.filterNodesMax - 1);
  });

  it("[D4] never throws, whatever JSON says", () => {
    const plain = fc.jsonValue({ maxDepth: 1 });
    const { node } = fc.letrec<{ readonly node: unknown }>((tie) => ({
      node: fc.record(
        {
          op: fc.oneof(fc.constant("and"), plain),
          val: fc.oneof(fc.string(), plain),
          vals: fc.oneof(fc.array(fc.string(), { maxLength: 2 }), plain),
          nodes: fc.oneof(
            { maxDepth: 3, depthSize: "small" },
            plain,
            fc.array(fc.oneof(tie("node"), plain), { maxLength: 3 }),
          ),
        },
        { requiredKeys: [] },
      ),
    }));
    const found = { sound: 0, malformed: 0 };
    fc.assert(
      fc.property(fc.oneof(node, plain), (tf) => {
        const { filter, complaints } = decoded(JSON.parse(JSON.stringify(tf)));
        if (complaints.length === 0) found.sound++;
        else found.malformed++;
        expect(filter === undefined || typeof filter.op === "string").toBe(true);
      }),
      { seed: 20_261_121, numRuns: 2_000 },
    );
    expect(Math.min(...Object.values(found))).toBeGreaterThan(50);
  });
});
