import type { MapEntry } from "./map-state.ts";
import type { ClientInfo, Publication, StreamPosition } from "../../protocol/publication.ts";
import type { HistoryEntry } from "../../channel/history-table.ts";

/** A change as subscribers get it. The one at offset 1 carries the epoch (docs/protocol.md 2.6). */
export function liveChange(
  { key, data, tags, delta, removed: isRemoval, score }: HistoryEntry,
  info: ClientInfo | undefined,
  { offset, epoch }: StreamPosition,
  before: Publication["before"],
): Publication {
  return {
    data,
    offset,
    ...(offset === 1 ? { epoch } : {}),
    ...(key === undefined ? {} : { key }),
    ...(isRemoval === undefined ? {} : { removed: isRemoval }),
    ...(score === undefined || score === 0 ? {} : { score }),
    ...(info === undefined ? {} : { info }),
    ...(tags === undefined ? {} : { tags }),
    ...(delta ? { mayBePatch: true } : {}),
    ...(before === undefined ? {} : { before }),
  };
}

/** An entry of the state as clients get it. */
export function publicationOf({ key, data, offset, tags, info, score }: MapEntry): Publication {
  return {
    key,
    data,
    offset,
    ...(tags === undefined ? {} : { tags }),
    ...(info === undefined ? {} : { info }),
    ...(score === 0 ? {} : { score }),
  };
}
