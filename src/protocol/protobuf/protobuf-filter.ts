import { limits } from "../../limits.ts";
import type { FilterNode } from "../filter-node.ts";
import type { ProtobufFields } from "./fields.ts";

/**
 * Decodes a subscription's tags filter (reference 1.3, FilterNode); undefined when none came along. A larger or deeper tree
 * than `limits` allows is a complaint, and what is beyond isn't read.
 */
export function decodeFilter(subscribe: ProtobufFields): FilterNode | undefined {
  const root = subscribe.message(13, "tf");
  if (root === undefined) return undefined;
  let count = 0;

  function decodeNode(fields: ProtobufFields, depth: number): FilterNode {
    const op = fields.text(1, "op");
    const key = fields.text(2, "key");
    const cmp = fields.text(3, "cmp");
    const val = fields.text(4, "val");
    const vals = fields.texts(5, "vals");
    const nodes: FilterNode[] = [];
    count++;
    if (depth === limits.filterDepthMax && fields.has(6)) {
      subscribe.complain("tf", `is over ${limits.filterDepthMax} deep`);
      return { op, key, cmp, val, vals, nodes };
    }
    for (const inner of fields.messages(6, "nodes")) {
      if (count === limits.filterNodesMax) {
        subscribe.complain("tf", `has over ${limits.filterNodesMax} nodes`);
        break;
      }
      nodes.push(decodeNode(inner, depth + 1));
    }
    return { op, key, cmp, val, vals, nodes };
  }

  return decodeNode(root, 1);
}
