import type { StreamPosition } from "../protocol/publication.ts";
import type { KeptPosition } from "../contract/session-snapshot.ts";
import type { Batch } from "../contract/relay-batch.ts";

/** How far a gateway is with a channel: everything up to here is with its subscribers. */
export interface Reached {
  /** The channel's instance, and the number of the last entry taken from it. */
  readonly instance: number;
  readonly sequence: number;
  /** Absent on a channel without history. */
  readonly position?: StreamPosition;
}

/** How it is noted where it survives sleep. */
export function keptOf({ instance, sequence, position }: Reached): KeptPosition {
  const { epoch, offset } = position ?? { epoch: "", offset: 0 };
  return { epoch, offset, instance, sequence };
}

/** The other way round. */
export function reachedOf({ instance, sequence, epoch, offset }: KeptPosition): Reached {
  return { instance, sequence, ...(epoch === "" ? {} : { position: { epoch, offset } }) };
}

/** Whether what was kept is further than that. */
export function isBeyond(kept: KeptPosition, reached: Reached): boolean {
  if (kept.instance !== reached.instance) return kept.instance > reached.instance;
  if (kept.sequence !== reached.sequence) return kept.sequence > reached.sequence;
  return kept.offset > (reached.position?.offset ?? 0);
}

/** Where a gateway stood that has taken everything before this batch, and nothing of it. */
export function reachedBefore({ instance, first, entries, top }: Batch): Reached {
  const reached = { instance, sequence: first - 1 };
  if (top === undefined) return reached;
  for (const entry of entries) {
    if (entry.type !== "publication" || entry.publication.offset === 0) continue;
    return { ...reached, position: { epoch: top.epoch, offset: entry.publication.offset - 1 } };
  }
  return { ...reached, position: top };
}

/** Whether two positions are of one stream. An empty epoch isn't known yet, and isn't compared (reference 2.6). */
export function sameStream(one: StreamPosition, other: StreamPosition): boolean {
  return one.epoch === other.epoch || one.epoch === "" || other.epoch === "";
}
