import type { Publication } from "../protocol/publication.ts";

/** A publication as the history has it: it doesn't say the epoch that clients are told with the first one. */
export function asInHistory(publication: Publication): Publication {
  if (publication.epoch === undefined) return publication;
  const { epoch: _, ...rest } = publication;
  return rest;
}

/** A publication as it is told when it happens: the first one of a stream says the epoch (reference 2.6). */
export function asLive(publication: Publication, epoch: string): Publication {
  return publication.offset === 1 ? { ...publication, epoch } : publication;
}
