import { limits } from "../limits.ts";
import type { FilterNode } from "../protocol/filter-node.ts";
import type { Tags } from "../protocol/publication.ts";
import { compareDecimals, parseDecimal } from "./decimal.ts";
import { searchFor } from "./text-search.ts";

/** A tags filter that makes sense (reference 3.2). */
export interface TagsFilter {
  /** The same for equal filters: what one subscriber was found to want needn't be asked for the next. */
  readonly text: string;
  /** Whether a publication with these tags is wanted. */
  readonly matches: (tags: Tags | undefined) => boolean;
}

/**
 * Makes a filter of what a client sent; undefined when it makes no sense (rule D4), or is larger or deeper than the limits
 * say. Everything that can be worked out beforehand is: what is left for each publication is one question per condition.
 */
export function tagsFilter(node: FilterNode): TagsFilter | undefined {
  const matches = condition(node, { nodes: limits.filterNodesMax }, limits.filterDepthMax);
  return matches === undefined ? undefined : { text: JSON.stringify(canonical(node)), matches };
}

type Condition = (tags: Tags | undefined) => boolean;

/** What is asked of the value of one tag; undefined where the tag is missing. */
type Comparison = (value: string | undefined) => boolean;

/**
 * @param left how many nodes the rest of the tree may have
 * @param depthMax how many levels the tree may have, this one included
 */
function condition(
  node: FilterNode,
  left: { nodes: number },
  depthMax: number,
): Condition | undefined {
  if (depthMax === 0 || left.nodes === 0) return undefined;
  left.nodes--;
  if (node.op === "") return leaf(node);
  const { op, key, cmp, val, vals, nodes } = node;
  if (key !== "" || cmp !== "" || val !== "" || vals.length > 0) return undefined;
  const below: Condition[] = [];
  for (const each of nodes) {
    const one = condition(each, left, depthMax - 1);
    if (one === undefined) return undefined;
    below.push(one);
  }
  const [first, second] = below;
  if (first === undefined) return undefined;
  switch (op) {
    case "and":
      return (tags) => below.every((one) => one(tags));
    case "or":
      return (tags) => below.some((one) => one(tags));
    case "not":
      return second === undefined ? (tags) => !first(tags) : undefined;
    default:
      return undefined;
  }
}

function leaf(node: FilterNode): Condition | undefined {
  const { key } = node;
  const isWanted = node.nodes.length === 0 ? comparison(node) : undefined;
  if (isWanted === undefined) return undefined;
  // A tag may be called like something that every object has.
  return (tags) => isWanted(tags !== undefined && Object.hasOwn(tags, key) ? tags[key] : undefined);
}

/** Which of a leaf's fields a comparison needs; those that it doesn't need must be absent. */
function comparison(node: FilterNode): Comparison | undefined {
  const { key, cmp, val, vals } = node;
  switch (cmp) {
    case "ex":
    case "nex":
      // Of a tag without a name can be asked whether it is there, and nothing else, as with Centrifugo.
      if (val !== "" || vals.length > 0) return undefined;
      return (value) => (value === undefined) === (cmp === "nex");
    case "in":
    case "nin": {
      if (key === "" || val !== "" || vals.length === 0) return undefined;
      const among = new Set(vals);
      return (value = "") => among.has(value) === (cmp === "in");
    }
    default:
      return key === "" || val === "" || vals.length > 0 ? undefined : valueComparison(cmp, val);
  }
}

function valueComparison(cmp: string, val: string): Comparison | undefined {
  switch (cmp) {
    case "eq":
      return (value) => value === val;
    case "neq":
      return (value) => value !== val;
    case "sw":
      return (value) => value?.startsWith(val) === true;
    case "ew":
      return (value) => value?.endsWith(val) === true;
    case "ct": {
      const contains = searchFor(val);
      return (value) => value !== undefined && contains(value);
    }
    case "lt":
      return ordering(val, (order) => order < 0);
    case "lte":
      return ordering(val, (order) => order <= 0);
    case "gt":
      return ordering(val, (order) => order > 0);
    case "gte":
      return ordering(val, (order) => order >= 0);
    default:
      return undefined;
  }
}

/** What is no number is neither larger nor smaller than anything, nor is anything than it. */
function ordering(val: string, isWanted: (order: number) => boolean): Comparison {
  const bound = parseDecimal(val);
  if (bound === undefined) return () => false;
  return (value) => {
    const number = value === undefined ? undefined : parseDecimal(value);
    return number !== undefined && isWanted(compareDecimals(number, bound));
  };
}

/** The same fields in the same order, whatever codec they came by. */
function canonical({ op, key, cmp, val, vals, nodes }: FilterNode): FilterNode {
  return { op, key, cmp, val, vals, nodes: nodes.map(canonical) };
}
