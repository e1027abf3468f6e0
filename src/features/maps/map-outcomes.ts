import type { Changer } from "../../channel/publication-request.ts";
import type { MapSuppression } from "./map-call.ts";
import type { MapPage } from "./map-page.ts";
import type { Publication, StreamPosition } from "../../protocol/publication.ts";
import type { MapCounts } from "../../channel/channel-setup.ts";
import type { HistoryEntry } from "../../channel/history-table.ts";

/** The channel of a map, as the map sees it. */
export interface MapChannel {
  readonly mapCounts: MapCounts | undefined;
  /** Whether the channel has subscribers, here or on gateways. */
  readonly isHeld: boolean;
  /** The top, of a new stream if there is none. */
  position(nowMs: number): StreamPosition | undefined;
  /** Collects a change that was stored. */
  published(
    publication: Publication,
    entry: HistoryEntry,
    position: StreamPosition,
    by: Changer,
  ): void;
  /** Begins a new stream, with a new epoch, and tells the subscribers (rule Z5). */
  restart(nowMs: number): void;
}

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
