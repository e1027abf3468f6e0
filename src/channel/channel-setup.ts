import type { ChannelConfig, ChannelOptions, ClientConfig } from "../config/config.ts";
import type { HubSetup } from "../hub/hub.ts";
import type { RelaySetup } from "./relay.ts";
import type { Sql } from "../sql.ts";
import type { ClientInfo, Publication, StreamPosition } from "../protocol/publication.ts";
import type { ChannelParts } from "./channel-part.ts";
import {
  type PresenceChannel,
  presenceMapsOf,
  shownChannelOf,
} from "../features/presence/presence-channels.ts";
import { PresenceTeller } from "../features/presence/presence-teller.ts";
import type { StoredTable } from "./stored-tables.ts";

/** The ports and the configuration of a channel. */
export interface ChannelSetup
  extends Pick<HubSetup, "fanOut" | "frames">, Pick<RelaySetup, "calls"> {
  readonly name: string;
  readonly options: ChannelOptions;
  readonly client: ClientConfig;
  readonly sql: Sql;
  /** The tables that exist, if they were read already. */
  readonly tables?: ReadonlySet<StoredTable>;
  readonly newEpoch: () => string;
  /** When this instance of the channel object began, ms since 1970. */
  readonly instance: number;
  readonly nowMs: number;
  /** Makes what features keep of the channel; absent where they keep nothing. */
  readonly parts?: ChannelParts;
  /** The other channel, of a channel that is its presence map (rule Z21). */
  readonly shown?: PresenceChannel;
  /** Of a channel that has presence maps (rule Z22). */
  readonly teller?: PresenceTeller;
  /** Absent where nothing is counted. */
  readonly counts?: ChannelCounts;
  /** Takes each publication, in the stretch in which its row is written (rule E1); absent for none. */
  readonly accepted?: (
    entry: AcceptedEntry,
    position: StreamPosition | undefined,
    nowMs: number,
  ) => void;
  /** Hears of publications with an offset; absent where nobody does. */
  readonly publications?: PublicationObserver;
  /** How often gateways are asked whether they still follow the channel, in ms; absent: as seldom as it needs. */
  readonly followersCheckMs?: number;
}

/** A publication as it was requested, with the client that published it, if one did. */
export interface AcceptedEntry extends Pick<
  Publication,
  "data" | "tags" | "info" | "key" | "removed"
> {
  readonly traceparent?: string;
}

/** Hears of a channel's publications that have an offset. */
export interface PublicationObserver {
  /**
   * A publication has its offset, and isn't durable yet.
   *
   * @param sequence its number among the entries of the instance
   * @param info     of the client that published it; undefined for a backend
   * @param key      the name of the backend's API key; "" if it isn't known
   */
  published(
    offset: number,
    sequence: number,
    info: ClientInfo | undefined,
    key: string,
    nowMs: number,
  ): void;
}

/** Where one channel's publications are counted. */
export interface ChannelCounts {
  readonly published: { value: number };
  /** Suppressed by an idempotency key. */
  readonly repeated: { value: number };
  /** Suppressed by a version. */
  readonly outdated: { value: number };
  readonly deliveries: { value: number };
  readonly gatewayChanges: { value: number };
  /** The further counts of a channel that is a map. */
  ofMap(): MapCounts;
}

/** Counts the changes of a map. */
export interface MapCounts {
  /** A key was set or removed. */
  changed(method: "map_publish" | "map_remove"): void;
  /** A change did nothing. */
  suppressed(method: "map_publish" | "map_remove", reason: string): void;
  /** A key has ended. */
  ended(): void;
}

/** What a channel is told of presence maps: those that it has, and the channel that it shows if it is one. */
export function presenceSetup(
  name: string,
  config: ChannelConfig,
): Pick<ChannelSetup, "shown" | "teller"> {
  const shown = shownChannelOf(name, config);
  const maps = presenceMapsOf(name, config);
  return {
    ...(shown !== undefined && { shown }),
    ...(maps.length > 0 && { teller: new PresenceTeller(name, maps) }),
  };
}
