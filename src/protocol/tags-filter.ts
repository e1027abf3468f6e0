import { limits } from "../limits.ts";
import { changeTags } from "./change-tags.ts";
import type { FilterNode } from "./command.ts";
import type { Tags } from "./publication.ts";

/** A valid tags filter (docs/protocol.md 3.2). */
export interface TagsFilter {
  /** The same text for equal filters, so that a result can be shared by their subscribers. */
  readonly text: string;
  /** Whether the filter lets a publication with these tags through. */
  readonly matches: (tags: Tags | undefined) => boolean;
}

/**
 * Compiles the filter that a client sent, so that a publication costs one comparison for each condition.
 *
 * @returns undefined for an invalid filter (rule D4), or one that is larger or deeper than the limits allow
 */
export function tagsFilter(node: FilterNode): TagsFilter | undefined {
  const matches = condition(node, { nodes: limits.filterNodesMax }, limits.filterDepthMax);
  if (matches === undefined) return undefined;
  // An erased publication has none of the tags that the filter let it through for.
  const orErasure: Condition = (tags) => tags?.[changeTags.erase] !== undefined || matches(tags);
  return { text: JSON.stringify(canonical(node)), matches: orErasure };
}

type Condition = (tags: Tags | undefined) => boolean;

/** Compares the value of one tag; undefined stands for a missing tag. */
type Comparison = (value: string | undefined) => boolean;

/**
 * Compiles a node and the nodes below it.
 *
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
  // A tag's name may be that of a member that every object inherits.
  return (tags) => isWanted(tags !== undefined && Object.hasOwn(tags, key) ? tags[key] : undefined);
}

/**
 * Compiles a leaf's comparison; undefined when a field that it needs is absent, or one that it doesn't need is there.
 */
function comparison(node: FilterNode): Comparison | undefined {
  const { key, cmp, val, vals } = node;
  switch (cmp) {
    case "ex":
    case "nex":
      // As in Centrifugo, the tag with the empty name can be tested for existence alone.
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

/**
 * Compares numbers. A text that is no number is neither larger nor smaller than anything, as a tag or in the filter.
 */
function ordering(val: string, isWanted: (order: number) => boolean): Comparison {
  const bound = parseDecimal(val);
  if (bound === undefined) return () => false;
  return (value) => {
    const number = value === undefined ? undefined : parseDecimal(value);
    return number !== undefined && isWanted(compareDecimals(number, bound));
  };
}

/** The filter with the same fields in the same order, whichever codec brought it. */
function canonical({ op, key, cmp, val, vals, nodes }: FilterNode): FilterNode {
  return { op, key, cmp, val, vals, nodes: nodes.map(canonical) };
}

/**
 * Makes a search for one text in others (Knuth, Morris and Pratt's algorithm). It takes time in proportion to the sum
 * of both lengths, whatever the texts are; the engine's own search can take time in proportion to their product, which
 * an attacker could use.
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

/** For the prefix of each length: the length of the longest shorter prefix that it ends with. */
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

/** For a text of at most so many characters the engine's own search is fast enough even in the worst case. */
const shortMax = 16;

/** A decimal number of any length and precision: its sign, and its digits without redundant zeros. */
interface Decimal {
  /** 0 for zero, in whatever way it is written. */
  readonly sign: -1 | 0 | 1;
  /** The digits before the point, without leading zeros. */
  readonly whole: string;
  /** The digits after the point, without trailing zeros. */
  readonly fraction: string;
}

/**
 * Parses a decimal number as Centrifugo does: ASCII digits, with or without a sign, and with or without a point that
 * has digits on both sides.
 *
 * @returns undefined for everything else, such as an exponent, spaces or the digits of another script
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

/** Below 0 if the first number is the smaller one, above 0 if it is the larger one, 0 if they are equal. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  if (one.sign !== other.sign) return one.sign - other.sign;
  return one.sign < 0 ? compareMagnitudes(other, one) : compareMagnitudes(one, other);
}

/** Without leading zeros, the longer whole number is larger; digits of equal places compare as text. */
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

/** Without a regular expression: `0+$` takes quadratic time for zeros in the middle. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

const written = /^[-+]?[0-9]+(?:\.[0-9]+)?$/;
