import { sharedPolls as allSharedPolls } from "./shared-polls/feature.ts";
import type { FeaturedChannels } from "../channel/channel-part.ts";
import type {
  AddedChannelCalls,
  AddedGatewayCalls,
  AddedHomeCalls,
  AddedSessionCalls,
} from "../contract/object-calls.ts";
import type { KeyedStream } from "../channel/keyed-stream.ts";
import { type ChannelOptions, type Config, everyOptions } from "../config/config.ts";
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
import { maps as allMaps } from "./maps/feature.ts";
import { kernelOperations, type OperationRows } from "../access/operations.ts";
import { presence as allPresence } from "./presence/feature.ts";
import { hooks } from "./hooks/feature.ts";
import { events as allEvents } from "./events/feature.ts";
import { metrics } from "./metrics/feature.ts";
import { why } from "./why/feature.ts";
import { consoleFeature } from "./console/feature.ts";
import { changes as allChanges } from "./changes/feature.ts";
import { cursors as allCursors } from "./cursors/feature.ts";
import { pusher } from "./pusher/feature.ts";
import { procedures as allProcedures } from "./procedures/feature.ts";
import { receipts as allReceipts } from "./cursors/receipts/feature.ts";

/** The types of the code of channels, for the Workers that have some. */
export type {
  ChannelDefinitions,
  Procedure,
  ProcedureArgs,
  ProcedureResult,
  ProceduresOf,
} from "./procedures/definition.ts";

/**
 * The features that a build leaves out whose bundler defines these names as `true` (docs/embedding.md). They stand in the
 * conditions themselves, because bundlers fold nothing else.
 */
declare const DORMOUSE_WITHOUT_CHANGES: true | undefined;
declare const DORMOUSE_WITHOUT_CURSORS: true | undefined;
declare const DORMOUSE_WITHOUT_EVENTS: true | undefined;
declare const DORMOUSE_WITHOUT_MAPS: true | undefined;
declare const DORMOUSE_WITHOUT_PROCEDURES: true | undefined;
declare const DORMOUSE_WITHOUT_SHARED_POLLS: true | undefined;

const changes: Partial<typeof allChanges> =
  typeof DORMOUSE_WITHOUT_CHANGES === "undefined" ? allChanges : {};
const cursors: Partial<typeof allCursors> =
  typeof DORMOUSE_WITHOUT_CURSORS === "undefined" ? allCursors : {};
const events: Partial<typeof allEvents> =
  typeof DORMOUSE_WITHOUT_EVENTS === "undefined" ? allEvents : {};
const maps: Partial<typeof allMaps> = typeof DORMOUSE_WITHOUT_MAPS === "undefined" ? allMaps : {};
const presence: Partial<typeof allPresence> =
  typeof DORMOUSE_WITHOUT_MAPS === "undefined" ? allPresence : {};
const procedures: Partial<typeof allProcedures> =
  typeof DORMOUSE_WITHOUT_PROCEDURES === "undefined" ? allProcedures : {};
const receipts: Partial<typeof allReceipts> =
  typeof DORMOUSE_WITHOUT_CURSORS === "undefined" && typeof DORMOUSE_WITHOUT_MAPS === "undefined"
    ? allReceipts
    : {};
const sharedPolls: Partial<typeof allSharedPolls> =
  typeof DORMOUSE_WITHOUT_SHARED_POLLS === "undefined" ? allSharedPolls : {};

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
  changes,
  cursors,
  receipts,
  pusher,
  procedures,
];

/** The operations that a backend can ask for, in the order in which the documents list them. */
export const operations: OperationRows = Object.assign(
  {},
  kernelOperations,
  why.operations,
  changes.operations,
  maps.operations,
  sharedPolls.operations,
  cursors.operations,
  procedures.operations,
  events.operations,
);

/** How the requests of the features' methods are read. */
export const featureMethods: FeatureMethods = Object.assign(
  {},
  why.methods,
  changes.methods,
  maps.methods,
  sharedPolls.methods,
  cursors.methods,
  procedures.methods,
);

type FeatureMethods = typeof why.methods &
  typeof allChanges.methods &
  typeof allMaps.methods &
  typeof allSharedPolls.methods &
  typeof allCursors.methods &
  typeof allProcedures.methods;

/** The types of subscriptions beside streams. */
export const subscriptionTypes: SubscriptionTypes = {
  ...maps.subscriptionTypes,
  ...sharedPolls.subscriptionTypes,
  ...receipts.subscriptionTypes,
};

/** The streams whose publications are changes of keys. */
export function keyedStreamOf(options: ChannelOptions): KeyedStream | undefined {
  return maps.keyedStreamOf?.(options);
}

/** Whether publications of such channels get other contents after they were read. */
export function amendsPublications(options: ChannelOptions | undefined): boolean {
  return options?.changes !== undefined;
}

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

/** The calls that the features add to objects of both kinds, of channels, of gateways, and to homes. */
export const sessionCalls: AddedCalls<AddedSessionCalls, PartedObject> = Object.assign(
  {},
  why.sessionCalls,
  consoleFeature.sessionCalls,
);
export const channelCalls: AddedCalls<AddedChannelCalls, PartedChannelObject> = Object.assign(
  {},
  presence.channelCalls,
  cursors.channelCalls,
  receipts.channelCalls,
);
export const gatewayCalls: AddedCalls<AddedGatewayCalls, PartedGateway> = Object.assign(
  {},
  sharedPolls.gatewayCalls,
  cursors.gatewayCalls,
);

export const homeCalls: AddedCalls<AddedHomeCalls, PartedHome> = Object.assign(
  {},
  changes.homeCalls,
  cursors.homeCalls,
);

/** Makes those of them that objects make. */
export const callers: typeof allPresence.callers &
  typeof allSharedPolls.callers &
  typeof allChanges.callers &
  typeof allCursors.callers &
  typeof allReceipts.callers = Object.assign(
  {},
  presence.callers,
  sharedPolls.callers,
  changes.callers,
  cursors.callers,
  receipts.callers,
);

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

/** Names each feature that a configuration asks for and this build has left out, in a sentence. */
export function leftOutProblems({ channel, events: told }: Config): readonly string[] {
  const some = (isAsked: (options: ChannelOptions) => boolean): boolean =>
    everyOptions(channel).some(isAsked);
  const hasType = (name: string) => some(({ subscriptionType: type }) => type.startsWith(name));
  // The configuration is looked at only for what isn't here.
  const asked = [
    ["MAPS", 'subscription_type "map"', maps, () => hasType("map")],
    ["SHARED_POLLS", 'subscription_type "shared_poll"', sharedPolls, () => hasType("shared_poll")],
    ["EVENTS", "events", events, () => told !== undefined],
    ["CHANGES", "allow_change", changes, () => some((options) => options.changes !== undefined)],
    [
      "PROCEDURES",
      "code of channels",
      procedures,
      () => some(({ code, calls }) => (code ?? calls) !== undefined),
    ],
    ["CURSORS", "cursors", cursors, () => some((options) => options.cursors !== undefined)],
  ] as const;
  return asked.flatMap(([name, option, { operations: rows }, isAsked]) =>
    rows === undefined && isAsked()
      ? [`${option} is left out of this build, which defines DORMOUSE_WITHOUT_${name}`]
      : [],
  );
}
