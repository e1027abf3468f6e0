import type { FeaturedChannels } from "../channel/channel-part.ts";
import type { GatheredPresence } from "../channel/presence.ts";
import type { PresenceSource } from "../channel/shared-presence.ts";
import type { ChannelOptions, Config } from "../config/config.ts";
import type { FanOutLimits, FrameObserver, JoinTaker, TakeJoin } from "../hub/hub.ts";
import type { ErrorCode } from "../protocol/codes.ts";
import type { ClientObserver } from "../session/observer.ts";
import type { SubscriptionPart } from "../session/channels.ts";
import type { BatchObserver } from "./batch-order.ts";
import type { ChannelClientPort } from "./channel-client.ts";

/** A gateway's calls of channel objects. */
export interface GatewayPorts extends ChannelClientPort, Pick<PresenceSource, "later"> {
  /**
   * Asks a channel's object who is present. The object asks all gateways, this one too (rule G6).
   *
   * @param done called once, later or at once
   */
  presence(channel: string, done: (gathered: PortPresence) => void): void;
}

type PortPresence = GatheredPresence | { readonly error: ErrorCode };

/** The configuration and the ports of a gateway. */
export interface GatewaySetup {
  readonly config: Config;
  readonly ports: GatewayPorts;
  /** The only channel of a gateway that serves a full channel object's connections (rule G4); absent on all others. */
  readonly only?: string;
  /** Absent for the usual limits. */
  readonly fanOut?: FanOutLimits;
  /** Hear of what the gateway takes and sends, and of its subscriptions; absent where nobody does. */
  readonly batches?: BatchObserver;
  readonly frames?: FrameObserver;
  readonly clients?: ClientObserver;
  /** Where publications are counted that a channel's subscribers are sent; absent where nothing is counted. */
  readonly deliveries?: (channel: string) => { value: number };
  /** Whether somebody waits for the channel to have no subscriber any more (rule E10); absent: nobody does. */
  readonly awaitsEnd?: (channel: string) => boolean;
  /** What features keep of the subscriptions; absent where they keep nothing. */
  readonly parts?: readonly SubscriptionPart[];
  /** Takes the joins and leaves of a channel, see {@link HubSetup.joins}; absent where subscribers get all. */
  readonly joins?: (channel: string, send: TakeJoin) => JoinTaker;
  /** The kinds of channels' streams; absent if no feature has one. */
  readonly keyedStreamOf?: FeaturedChannels["keyedStreamOf"];
  /** Whether publications of such a channel can be changed after they were made; absent: of none. */
  readonly amends?: (options: ChannelOptions | undefined) => boolean;
}
