/**
 * What the directory and the objects that it lists report to each other, and to the edge (rules U22 to U24). The directory lists
 * each object that holds connections. During a deploy the sides may be one release apart (rule V1): fields are only
 * added, and the absence of an added field has a meaning.
 */

/** Which channels with subscribers are asked for. */
export interface ChannelsQuery {
  /** A glob for their names, see `compileGlob`; "" for all. */
  readonly pattern: string;
  /** Only names after this one, by their code points; "" for all. */
  readonly after: string;
  /** How many names are listed at most, the first ones. */
  readonly limit: number;
}

/** A channel, and how many subscribers it has. */
export interface ChannelCount {
  readonly name: string;
  readonly subscribers: number;
}

/** The answer of an object that the directory lists. */
export interface ListedAnswer {
  /** Whether the object still holds connections. If not, the directory forgets it. */
  readonly left: boolean;
}

/** The channels that a gateway has subscribers of, in the order of their names. */
export interface GatewayChannels extends ListedAnswer {
  readonly channels: readonly ChannelCount[];
}

/** The subscribers on the sockets of a channel's own object. */
export interface OwnSubscribers extends ListedAnswer {
  readonly subscribers: number;
}

/** A gateway as backends are shown it. */
export interface GatewayInfo extends ListedAnswer {
  /** Its name. */
  readonly name: string;
  /** The release that it runs. */
  readonly version: string;
  /** Connections whose connect has been answered. */
  readonly clients: number;
  /** The different users of these, of which the anonymous user is one. */
  readonly users: number;
  readonly channels: number;
  readonly subscriptions: number;
  /** How long the gateway has been awake, in seconds. */
  readonly uptimeSeconds: number;
}

/** One shard's part of the channels that have subscribers. */
export interface ListedChannels {
  /** On its gateways, the first ones by their names. */
  readonly channels: readonly ChannelCount[];
  /** The names of channels whose own objects it lists, the first ones. They may have no subscriber any more. */
  readonly own: readonly string[];
  /** Whether something is missing, because an object didn't answer in time; absent: nothing is. */
  readonly incomplete?: true;
}

/** The subscribers on the own objects of some channels. */
export interface CountedChannels {
  readonly channels: readonly ChannelCount[];
  readonly incomplete?: true;
}

/** Some gateways, as far as they hold connections. */
export interface GatewayInfos {
  readonly gateways: readonly GatewayInfo[];
  readonly incomplete?: true;
}
