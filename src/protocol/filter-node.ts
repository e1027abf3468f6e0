/**
 * A tags filter as a client sends it (reference 3.2), with every absent field given its meaning of absence. A tree, no deeper
 * and no larger than the limits say; whether it makes sense is for `hub/tags-filter.ts` to say.
 */
export interface FilterNode {
  /** "" for a leaf, or `and`, `or`, `not`. */
  readonly op: string;
  readonly key: string;
  readonly cmp: string;
  readonly val: string;
  readonly vals: readonly string[];
  readonly nodes: readonly FilterNode[];
}
