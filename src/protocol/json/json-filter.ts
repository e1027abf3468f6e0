import { limits } from "../../limits.ts";
import type { FilterNode } from "../filter-node.ts";
import type { JsonFields } from "./fields.ts";

/**
 * Decodes a subscription's tags filter (reference 1.3, FilterNode), of JSON and of MessagePack alike; undefined when none
 * came along. A larger or deeper tree than `limits` allows is a complaint, and what is beyond isn't read.
 */
export function decodeFilter(subscribe: JsonFields): FilterNode | undefined {
  const root = subscribe.object("tf");
  if (root === undefined) return undefined;
  let count = 0;

  function decodeNode(fields: JsonFields, depth: number): FilterNode {
    count++;
    const nodes: FilterNode[] = [];
    for (const inner of fields.list("nodes")) {
      if (depth === limits.filterDepthMax) {
        subscribe.complain("tf", `is over ${limits.filterDepthMax} deep`);
        break;
      }
      if (count === limits.filterNodesMax) {
        subscribe.complain("tf", `has over ${limits.filterNodesMax} nodes`);
        break;
      }
      nodes.push(decodeNode(inner, depth + 1));
    }
    return {
      op: fields.text("op"),
      key: fields.text("key"),
      cmp: fields.text("cmp"),
      val: fields.text("val"),
      vals: fields.texts("vals"),
      nodes,
    };
  }

  return decodeNode(root, 1);
}
