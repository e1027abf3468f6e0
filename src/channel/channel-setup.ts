import type { ChannelOptions, ClientConfig } from "../config/config.ts";
import type { HubSetup } from "../hub/hub.ts";
import type { RelaySetup } from "./relay.ts";
import type { Sql } from "../sql.ts";
import type { ClientInfo, StreamPosition } from "../protocol/publication.ts";
import type { ChannelCounts } from "./channel-outcomes.ts";
import type { AcceptedEntry, FeaturedChannels } from "./channel-part.ts";
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
  /** Absent: the channel has no feature. */
  readonly features?: FeaturedChannels;
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
