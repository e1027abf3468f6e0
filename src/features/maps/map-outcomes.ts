import type { MapSuppression } from "./map-call.ts";
import type { Publication, StreamPosition } from "../../protocol/publication.ts";
import { mapLimits } from "./limits.ts";
import type { MapEntry, MapState } from "./map-state.ts";

declare module "../../channel/channel-outcomes.ts" {
  interface ChannelCounts {
    /** The counts of a channel that is a map. */
    ofMap(): MapCounts;
  }
}

/** Counts the changes of a map. */
export interface MapCounts {
  /** A key was set or removed, or its value has grown. */
  changed(method: MapChangeMethod): void;
  /** A change did nothing. */
  suppressed(method: MapChangeMethod, reason: string): void;
  /** What was appended within a window has become durable. */
  windowEnded(): void;
  /** A key has ended. */
  ended(): void;
}

/** What changes a key. */
type MapChangeMethod = "map_publish" | "map_remove" | "map_append";

/** Nothing was done: the map is full, or the same change may succeed a little later (rule I4). */
export type ChangeFailure = "full" | "too-many-keys";

/** The outcome of {@link ChannelMap.change}. */
export type MapChangeOutcome =
  | { readonly outcome: "changed"; readonly position: StreamPosition }
  | {
      readonly outcome: "suppressed";
      readonly reason: MapSuppression;
      /** Of the first change if an idempotency key was repeated; otherwise the top. */
      readonly position: StreamPosition;
      /** Of the key's last change; 0 if the map hasn't the key. */
      readonly currentOffset: number;
    }
  | { readonly outcome: ChangeFailure };

/** The outcome of {@link ChannelMap.page}, as the relay replies it; unrecoverable: the epoch is another one. */
export type MapPageOutcome =
  | MapStatePage
  | { readonly outcome: "unrecoverable"; readonly position: StreamPosition };

export interface MapStatePage {
  readonly outcome: "map_state";
  readonly publications: readonly Publication[];
  readonly cursor: string;
  readonly position: StreamPosition;
}

/** The outcome of {@link ChannelMap.readState}. */
export type MapStateOutcome =
  | (MapPage & { readonly outcome: "state"; readonly position: StreamPosition })
  | { readonly outcome: "unrecoverable"; readonly position: StreamPosition };

/**
 * Reads one page of a map's state, in the order of the keys (rules Z3 and Z25). The number of keys that a page looks at
 * is bounded. If most of them were removed or changed since, a page has fewer entries than were asked for, or none, and
 * a cursor.
 */
export function readPage(state: MapState, bounds: PageBounds): MapPage {
  const { cursor, entriesMax, bytesMax, offsetMax } = bounds;
  let [count, bytes, looked] = [0, 0, 0];
  let last = cursor;
  let isLast = false;
  let isFull = false;
  while (!isFull && !isLast && looked < bounds.rowsMax) {
    // One more than the page needs: that there is none says that the page is the last one.
    const asked = Math.min(entriesMax - count + 1, bounds.rowsMax - looked);
    const heads = state.heads(last, asked);
    for (const { key, isRemoved, offset, bytes: own } of heads) {
      looked++;
      if (!isRemoved && offset <= offsetMax) {
        isFull = count === entriesMax || (count > 0 && bytes + own > bytesMax);
        if (isFull) break;
        count++;
        bytes += own;
      }
      last = key;
    }
    isLast = !isFull && heads.length < asked;
  }
  const entries = count === 0 ? [] : state.entries(cursor, last, offsetMax);
  return { entries, cursor: isLast ? "" : last };
}

/** Which page is read, and how much of the state may be looked at. */
export interface PageBounds {
  /** The cursor of the page before; "" for the first page. */
  readonly cursor: string;
  /** At least 1. */
  readonly entriesMax: number;
  /** The bytes of all entries together; a single entry may be larger. */
  readonly bytesMax: number;
  /** Entries that were changed after this offset are left out. */
  readonly offsetMax: number;
  readonly rowsMax: number;
}

/** A page of a state. */
export interface MapPage {
  readonly entries: readonly MapEntry[];
  /** The cursor of the next page: the last key that was looked at; "" if this is the last page. */
  readonly cursor: string;
}

/** The rows that a page of so many entries may look at. */
export function pageRows(entriesMax: number): number {
  return Math.max(mapLimits.mapPageRowsMax, entriesMax + 1);
}
