import type { MapSuppression } from "./map-call.ts";
import type { MapPage } from "./map-page.ts";
import type { Publication, StreamPosition } from "../../protocol/publication.ts";

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
