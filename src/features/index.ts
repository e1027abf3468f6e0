import { sharedPolls } from "./shared-polls/feature.ts";
import type { FeaturedChannels } from "../channel/channel-part.ts";
import type {
  AddedChannelCalls,
  AddedGatewayCalls,
  AddedSessionCalls,
} from "../contract/object-calls.ts";
import type { Config } from "../config/config.ts";
import type {
  AddedCalls,
  HomePart,
  ObjectPart,
  PartedChannelObject,
  PartedGateway,
  PartedHome,
  PartedObject,
  PartHost,
} from "../object/part.ts";
import type { SubscriptionTypes } from "../session/ports.ts";
import type { Feature } from "./feature.ts";
import { maps } from "./maps/feature.ts";
import { kernelOperations, type OperationRows } from "../access/operations.ts";
import { presence } from "./presence/feature.ts";
import { hooks } from "./hooks/feature.ts";
import { events } from "./events/feature.ts";
import { metrics } from "./metrics/feature.ts";
import { why } from "./why/feature.ts";
import { cursors } from "./cursors/feature.ts";

/**
 * In the order in which their parts are called. At the end of an event, what is counted goes first: an event that is
 * sent counts for the next report.
 */
const features: readonly Feature[] = [
  metrics,
  events,
  why,
  hooks,
  maps,
  presence,
  sharedPolls,
  cursors,
];

/** The operations that a backend can ask for, in the order in which the documents list them. */
export const operations: OperationRows = {
  ...kernelOperations,
  ...why.operations,
  ...maps.operations,
  ...sharedPolls.operations,
  ...cursors.operations,
  ...events.operations,
};

/** How the requests of the features' methods are read. */
export const featureMethods = {
  ...why.methods,
  ...maps.methods,
  ...sharedPolls.methods,
  ...cursors.methods,
};

/** The types of subscriptions beside streams. */
export const subscriptionTypes: SubscriptionTypes = {
  ...maps.subscriptionTypes,
  ...sharedPolls.subscriptionTypes,
};

/** The methods that clients call without a backend. */
export const { clientMethodsOf } = cursors;

/** The streams whose publications are changes of keys. */
export const { keyedStreamOf } = maps;

export function featuredChannels(config: Config): FeaturedChannels {
  return {
    keyedStreamOf,
    partsOf: (channel, setup) =>
      features.flatMap(({ ofChannel }) => ofChannel?.(channel, setup, config) ?? []),
  };
}

export function channelObjectParts(object: PartedChannelObject): readonly ObjectPart[] {
  return features.flatMap(({ ofChannelObject }) => ofChannelObject?.(object) ?? []);
}

export function gatewayParts(gateway: PartedGateway): readonly ObjectPart[] {
  return features.flatMap(({ ofGateway }) => ofGateway?.(gateway) ?? []);
}

/** The calls that the features add to objects of both kinds, of channels, and of gateways. */
export const sessionCalls: AddedCalls<AddedSessionCalls, PartedObject> = why.sessionCalls;
export const channelCalls: AddedCalls<AddedChannelCalls, PartedChannelObject> =
  presence.channelCalls;
export const gatewayCalls: AddedCalls<AddedGatewayCalls, PartedGateway> = sharedPolls.gatewayCalls;

/** Makes those of them that objects make. */
export const callers = { ...presence.callers, ...sharedPolls.callers };

/** What the features add to objects that hold clients' sockets. */
export function objectParts(object: PartHost): readonly ObjectPart[] {
  return features.flatMap(({ ofObject }) => ofObject?.(object) ?? []);
}

/** What the features add to a home of users. */
export function homeParts(home: PartedHome): readonly HomePart[] {
  return features.flatMap(({ ofHome }) => ofHome?.(home) ?? []);
}

/** Whether homes have parts, which have to know whose last connection has ended. */
export function homesHaveParts(config: Config): boolean {
  return features.some(({ isOfHomes }) => isOfHomes?.(config) === true);
}
