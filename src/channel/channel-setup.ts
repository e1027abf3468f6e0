import type { ChannelConfig, ChannelOptions, ClientConfig } from "../config/config.ts";
import type { ObjectEvent } from "../features/events/event.ts";
import type { HubSetup } from "../hub/hub.ts";
import type { Sql } from "../sql.ts";
import type { ChannelCounts } from "../features/metrics/channel-counts.ts";
import { type PresenceChannel, presenceMapsOf, shownChannelOf } from "./presence-channels.ts";
import { PresenceTeller } from "./presence-teller.ts";
import type { StoredTable } from "./stored-tables.ts";

/** The ports and the configuration of a channel. */
export interface ChannelSetup extends Pick<HubSetup, "fanOut" | "frames"> {
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
  /** The other channel, of a channel that is its presence map (rule Z21). */
  readonly shown?: PresenceChannel;
  /** Of a channel that has presence maps (rule Z22). */
  readonly teller?: PresenceTeller;
  /** Absent without `prometheus.enabled`. */
  readonly counts?: ChannelCounts;
  /** Takes an event for each publication, in the stretch in which its row is written (rule E1); absent for none. */
  readonly events?: { add(event: ObjectEvent, nowMs: number): void };
  /** How often gateways are asked whether they still follow the channel, in ms; absent: as seldom as it needs. */
  readonly followersCheckMs?: number;
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
