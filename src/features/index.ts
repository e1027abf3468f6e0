import type { ChannelParts } from "../channel/channel-part.ts";
import type {
  ChannelsPart,
  NewPart,
  ObjectPart,
  PartedChannelObject,
  PartedGateway,
  PartHost,
} from "../object/part.ts";
import type { SubscriptionTypes } from "../session/ports.ts";
import { newEvents } from "./events/event-delivery.ts";
import type { Feature } from "./feature.ts";
import { maps } from "./maps/feature.ts";
import { newObjectMetrics } from "./metrics/object-metrics.ts";
import { presence } from "./presence/feature.ts";
import { sharedPolls } from "./shared-polls/feature.ts";
import { ObjectTrail } from "./why/object-trail.ts";

/** In the order in which their parts are called. */
const features: readonly Feature[] = [maps, presence, sharedPolls];

/** The types of subscriptions beside streams. */
export const subscriptionTypes: SubscriptionTypes = {
  ...maps.subscriptionTypes,
  ...sharedPolls.subscriptionTypes,
};

export const channelParts: ChannelParts = (...channel) =>
  features.flatMap(({ ofChannel }) => ofChannel?.(...channel) ?? []);

export function channelObjectParts(object: PartedChannelObject): readonly ChannelsPart[] {
  return features.flatMap(({ ofChannelObject }) => ofChannelObject?.(object) ?? []);
}

export function gatewayParts(gateway: PartedGateway): readonly ChannelsPart[] {
  return features.flatMap(({ ofGateway }) => ofGateway?.(gateway) ?? []);
}

/**
 * What the features add to objects that hold clients' sockets. At the end of an event, what is counted goes first: an
 * event that is sent counts for the next report.
 */
const newParts: readonly NewPart[] = [
  newObjectMetrics,
  newEvents,
  (object) => new ObjectTrail(object),
];

export function objectParts(object: PartHost): readonly ObjectPart[] {
  return newParts.flatMap((newPart) => newPart(object) ?? []);
}
