import type { Operation } from "../access/operations.ts";
import type { AnyMethod } from "../api/shape.ts";
import type {
  ChannelPart,
  FeaturedChannels,
  PartedChannel,
  PartSetup,
} from "../channel/channel-part.ts";
import type { Config } from "../config/config.ts";
import type {
  CallsTo,
  HomePart,
  NewPart,
  ObjectPart,
  PartedChannelObject,
  PartedGateway,
  PartedHome,
  PartedObject,
} from "../object/part.ts";
import type { CallName, MakeCall } from "../object/object-call.ts";
import type { SubscriptionTypes } from "../session/ports.ts";

/** What the kernel has of a feature. A feature that the configuration doesn't switch on has no part anywhere. */
export interface Feature {
  /** The rows of its operations. */
  readonly operations?: Readonly<Record<string, Operation>>;
  /** How the requests of its methods are read. */
  readonly methods?: Readonly<Record<string, AnyMethod>>;
  /** Makes what it does in an object that holds clients' sockets. */
  readonly ofObject?: NewPart;
  /** Makes what it does in a home of users. */
  readonly ofHome?: (home: PartedHome) => HomePart | undefined;
  /** Whether {@link ofHome} makes anything. */
  readonly isOfHomes?: (config: Config) => boolean;
  /** What clients do on channels of the feature's types. */
  readonly subscriptionTypes?: SubscriptionTypes;
  /** How streams are kept whose publications are changes of the feature's keys. */
  readonly keyedStreamOf?: FeaturedChannels["keyedStreamOf"];
  /** Makes what the feature does on a channel. */
  readonly ofChannel?: (
    channel: PartedChannel,
    setup: PartSetup,
    config: Config,
  ) => readonly ChannelPart[];
  /** The calls that it adds to objects of both kinds, of channels, and of gateways. */
  readonly sessionCalls?: CallsTo<PartedObject>;
  readonly channelCalls?: CallsTo<PartedChannelObject>;
  readonly gatewayCalls?: CallsTo<PartedGateway>;
  /** The calls that it adds to homes. */
  readonly homeCalls?: CallsTo<PartedHome>;
  /** Makes those calls that objects make to each other. */
  readonly callers?: { readonly [Name in CallName]?: MakeCall<Name> };
  /** Makes what it does in the object of a channel. */
  readonly ofChannelObject?: (object: PartedChannelObject) => readonly ObjectPart[];
  /** Makes what it does in the object of a gateway. */
  readonly ofGateway?: (gateway: PartedGateway) => readonly ObjectPart[];
}
