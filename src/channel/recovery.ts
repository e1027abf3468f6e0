import type { Publication, StreamPosition } from "../protocol/publication.ts";

/** The publications for a returning subscriber, or that it can't recover. */
export type Recovery =
  /** Every publication after the position; there may be none. */
  | { readonly outcome: "recovered"; readonly publications: readonly Publication[] }
  /** A publication after the position is gone, or there are too many: the subscriber must load its state anew. */
  | { readonly outcome: "unrecoverable" };

/**
 * Decides whether a subscriber that was away can be recovered (rules R1 to R4, docs/protocol.md 2.3). The function is
 * pure: it takes positions and publications, and reads no storage. In case of doubt the result is unrecoverable.
 * Loading the state anew costs the client only bandwidth, but it can't notice a hole.
 *
 * @param since  the position up to which the subscriber has everything; an empty epoch isn't compared
 * @param top    the position of the newest publication
 * @param missed the publications after `since.offset`, oldest first, at most `limit`; undefined if they were too large
 *               to be read at once
 * @param limit  this many missed publications are already too many
 */
export function recover(
  since: StreamPosition,
  top: StreamPosition,
  missed: readonly Publication[] | undefined,
  limit: number,
): Recovery {
  if (since.epoch !== "" && since.epoch !== top.epoch) return { outcome: "unrecoverable" };
  if (missed === undefined || missed.length >= limit) return { outcome: "unrecoverable" };
  const first = missed[0];
  const last = missed.at(-1);
  if (first === undefined || last === undefined) {
    return since.offset === top.offset
      ? { outcome: "recovered", publications: [] }
      : { outcome: "unrecoverable" };
  }
  return first.offset === since.offset + 1 && last.offset === top.offset
    ? { outcome: "recovered", publications: withoutOutgrown(missed) }
    : { outcome: "unrecoverable" };
}

/** The publications without those of growing values that a later one of the same key has more of (rule Z42). */
export function withoutOutgrown(publications: readonly Publication[]): readonly Publication[] {
  if (!publications.some(({ grown }) => grown !== undefined)) return publications;
  const later = new Set<string | undefined>();
  const kept = publications.toReversed().filter(({ key, grown }) => {
    const isOutgrown = grown !== undefined && later.has(key);
    later.add(key);
    return !isOutgrown;
  });
  return kept.toReversed();
}

/**
 * Decides the same for a gateway, which reads the publications that it missed page by page (rule L3).
 *
 * @param page the oldest publications after `since.offset`, oldest first; empty only if there are none
 */
export function recoverPage(
  since: StreamPosition,
  top: StreamPosition,
  page: readonly Publication[],
): Recovery {
  if (since.epoch !== "" && since.epoch !== top.epoch) return { outcome: "unrecoverable" };
  const next = page[0]?.offset ?? top.offset + 1;
  return next === since.offset + 1
    ? { outcome: "recovered", publications: page }
    : { outcome: "unrecoverable" };
}

/**
 * Decides the same where only the newest publication matters (docs/protocol.md 2.4): a subscriber at the top gets
 * nothing, and every other subscriber gets the newest publication, whatever its offset and epoch.
 *
 * @param newest the newest publication; undefined if it can't be read
 */
export function recoverNewest(
  since: StreamPosition,
  top: StreamPosition,
  newest: Publication | undefined,
): Recovery {
  // Nothing was missed, whether the newest publication can still be read or not (rule R6).
  if (isAtTop(since, top)) return { outcome: "recovered", publications: [] };
  if (newest?.offset !== top.offset) return { outcome: "unrecoverable" };
  return { outcome: "recovered", publications: [newest] };
}

/** Whether a position is the top of a stream in which something was published. */
export function isAtTop({ offset, epoch }: StreamPosition, top: StreamPosition): boolean {
  return offset > 0 && offset === top.offset && epoch === top.epoch;
}
