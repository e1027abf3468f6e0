import { limits } from "../limits.ts";
import type { FilterNode } from "../protocol/command.ts";
import type { Tags } from "../protocol/publication.ts";

/** A tags filter that makes sense (docs/protocol.md 3.2). */
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

/**
 * Makes a search for one text in others that takes time for the length of both together, whoever wrote them: the engine's
 * own search can take time for one length times the other (Knuth, Morris and Pratt's algorithm).
 */
export function searchFor(sought: string): (text: string) => boolean {
  if (sought.length <= shortMax) return (text) => text.includes(sought);
  const borders = bordersOf(sought);
  return (text) => {
    if (text.length < sought.length) return false;
    let matched = 0;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      while (matched > 0 && sought.charCodeAt(matched) !== unit) matched = borders[matched] ?? 0;
      if (sought.charCodeAt(matched) === unit) matched++;
      if (matched === sought.length) return true;
    }
    return false;
  };
}

/** For each length of a beginning: how long a shorter beginning is with which that one ends, too. */
function bordersOf(sought: string): Uint32Array {
  const borders = new Uint32Array(sought.length + 1);
  let border = 0;
  for (let index = 1; index < sought.length; index++) {
    const unit = sought.charCodeAt(index);
    while (border > 0 && sought.charCodeAt(border) !== unit) border = borders[border] ?? 0;
    if (sought.charCodeAt(border) === unit) border++;
    borders[index + 1] = border;
  }
  return borders;
}

/** So short a text is looked for so fast by the engine that a bad case doesn't matter. */
const shortMax = 16;

/** A decimal number of any length, exactly as it was written: its sign, and its digits without zeros that say nothing. */
interface Decimal {
  /** 0 for zero, however it was written. */
  readonly sign: -1 | 0 | 1;
  /** What stands before the point, without leading zeros. */
  readonly whole: string;
  /** What stands after it, without trailing zeros. */
  readonly fraction: string;
}

/**
 * Reads digits with or without a sign, and with or without a point that has digits on both sides, as Centrifugo does: no
 * exponent, no spaces, no other script's digits. Undefined for everything else.
 */
export function parseDecimal(text: string): Decimal | undefined {
  if (!written.test(text)) return undefined;
  const signed = text.startsWith("-") || text.startsWith("+");
  const point = text.indexOf(".");
  const whole = withoutLeadingZeros(text.slice(signed ? 1 : 0, point === -1 ? undefined : point));
  const fraction = point === -1 ? "" : withoutTrailingZeros(text.slice(point + 1));
  if (whole === "" && fraction === "") return { sign: 0, whole, fraction };
  return { sign: text.startsWith("-") ? -1 : 1, whole, fraction };
}

/** Below 0 when the first is the smaller one, above 0 when it is the larger one, 0 when they are the same number. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  if (one.sign !== other.sign) return one.sign - other.sign;
  return one.sign < 0 ? compareMagnitudes(other, one) : compareMagnitudes(one, other);
}

/** Of whole numbers without leading zeros the longer is larger; digits in the same places compare as text does. */
function compareMagnitudes(one: Decimal, other: Decimal): number {
  if (one.whole.length !== other.whole.length) return one.whole.length - other.whole.length;
  if (one.whole !== other.whole) return one.whole < other.whole ? -1 : 1;
  if (one.fraction === other.fraction) return 0;
  return one.fraction < other.fraction ? -1 : 1;
}

function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === "0") start++;
  return digits.slice(start);
}

/** Not by a regular expression: `0+$` looks at the same zeros again and again. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

const written = /^[-+]?[0-9]+(?:\.[0-9]+)?$/;
