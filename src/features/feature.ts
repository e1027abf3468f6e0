import type { ChannelParts } from "../channel/channel-part.ts";
import type { ChannelsPart, PartedChannelObject, PartedGateway } from "../object/part.ts";
import type { SubscriptionTypes } from "../session/ports.ts";

/** What the kernel has of a feature. A feature that the configuration doesn't switch on has no part anywhere. */
export interface Feature {
  /** What clients do on channels of the feature's types. */
  readonly subscriptionTypes?: SubscriptionTypes;
  /** Makes what the feature keeps of a channel. */
  readonly ofChannel?: ChannelParts;
  /** Makes what it does in the object of a channel. */
  readonly ofChannelObject?: (object: PartedChannelObject) => readonly ChannelsPart[];
  /** Makes what it does in the object of a gateway. */
  readonly ofGateway?: (gateway: PartedGateway) => readonly ChannelsPart[];
}
