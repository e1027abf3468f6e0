import { changedOffset, changeTags, isChangeTagged } from "../protocol/change-tags.ts";
import type { Payload } from "../protocol/payload.ts";
import type { Publication } from "../protocol/publication.ts";

/** Publications that are erased: whoever holds some of them in memory or in rows blanks them (rule ED14). */
export interface Erased {
  /** Their offsets. The changes of them are erased, too. */
  readonly offsets: readonly number[];
  /** All publications of this user are erased; absent: of no user. */
  readonly user?: string;
  /** The offset of the publication that says so, or of the top if none does. */
  readonly by: number;
  /** The data that each erased publication has from then on. */
  readonly data: Payload;
}

/** The hole that a publication leaves at its offset if it is erased, or is a change of one that is; undefined for any other. */
export function holeOf(publication: Publication, erased: Erased): Publication | undefined {
  if (!isErased(publication, erased)) return undefined;
  const { offset, epoch, tags = {} } = publication;
  const name = isChangeTagged(tags) ? changeTags.replaced : changeTags.erased;
  const hole = { data: erased.data, offset, tags: { [name]: String(erased.by) } };
  return epoch === undefined ? hole : { ...hole, epoch };
}

function isErased(
  { offset, info, tags = {} }: Publication,
  { offsets, user, by }: Erased,
): boolean {
  if (offset === 0 || offset > by) return false;
  const changed = changedOffset(tags) ?? offset;
  if (offsets.includes(offset) || offsets.includes(changed)) return true;
  return user !== undefined && (info?.user === user || tags[changeTags.by] === user);
}
