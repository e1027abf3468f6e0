import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { parseServerFilter } from "../../../../src/protocol/json/decode.ts";
import type { JsonValue } from "../../../../src/protocol/wire-value.ts";
import { filterNode } from "../any-filter.ts";

const parsed = (filter: JsonValue) => parseServerFilter({ server_tags_filter: filter });

/** A filter of so many levels. */
function deep(levels: number): JsonValue {
  return levels === 1 ? { key: "k", cmp: "ex" } : { op: "not", nodes: [deep(levels - 1)] };
}

describe("[A17] the tags filter that a backend sets", () => {
  it("is a filter as a client sends it", () => {
    expect(parsed({ key: "team", cmp: "eq", val: "red" })).toStrictEqual({
      outcome: "read",
      serverFilter: filterNode({ key: "team", cmp: "eq", val: "red" }),
    });
    expect(parsed(deep(limits.filterDepthMax)).outcome).toBe("read");
  });

  it("may be absent", () => {
    expect(parseServerFilter({})).toStrictEqual({ outcome: "read" });
    expect(parsed(null)).toStrictEqual({ outcome: "read" });
  });

  it.each<[JsonValue, string]>([
    ["team = red", "server_tags_filter is not an object"],
    [[], "server_tags_filter is not an object"],
    [{}, "server_tags_filter is no valid filter"],
    [{ key: "team", cmp: "like", val: "red" }, "server_tags_filter is no valid filter"],
    [{ key: "team", cmp: "eq", val: 5 }, "server_tags_filter.val is not a string"],
    [{ op: "and", nodes: [{ vals: 1 }] }, "server_tags_filter.nodes.vals is not an array"],
    [deep(limits.filterDepthMax + 1), `server_tags_filter is over ${limits.filterDepthMax} deep`],
    [
      { op: "or", nodes: Array.from({ length: limits.filterNodesMax }, () => deep(1)) },
      `server_tags_filter has over ${limits.filterNodesMax} nodes`,
    ],
  ])("is refused if it can't be applied: %j", (filter, reason) => {
    expect(parsed(filter)).toStrictEqual({ outcome: "invalid", reason });
  });
});
