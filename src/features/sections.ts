/**
 * The features' part of the configuration. Problems are reported in the order of reading, so each function has its place
 * among the kernel's sections. Programs of the command line read the configuration, too: this file imports of a feature
 * what belongs to its configuration, and none of its parts.
 */
import type { OperationRows } from "../access/operations.ts";
import { type Secrets, type SecretUse, secretPair } from "../access/secrets.ts";
import type { ChannelFeatures } from "../config/channel-features.ts";
import {
  type ChannelConfig,
  type ChannelOptions,
  type Config,
  everyOptions,
} from "../config/config.ts";
import type { Section } from "../config/section.ts";
import type { Target } from "../config/targets.ts";
import {
  consoleInDevelopment,
  consoleSecrets,
  neededConsoleSecrets,
  readConsoleSection,
} from "./console/config.ts";
import { checkChanges, readChanges } from "./changes/config.ts";
import { checkCursors, readCursors } from "./cursors/config.ts";
import { checkReceipts, openedReceipts, receiptsType } from "./cursors/receipts/config.ts";
import { checkEvents, eventTargets, readEventsSection } from "./events/config.ts";
import { type NamedTargets, readProxies } from "./hooks/backends.ts";
import {
  allHooks,
  channelHookKeys,
  channelHooks,
  type ClientHooks,
  hookSecret,
  hookTargets,
  readChannelBackends,
  readChannelHooks,
  readClientHooks,
  readRpcSection,
  unsupportedHookOptions,
} from "./hooks/config.ts";
import { mapHookKeys, mapHooks, mapsElsewhere, mapType, openedMap } from "./maps/config.ts";
import { readPrometheus } from "./metrics/config.ts";
import { openedCalls, readCalls } from "./procedures/config.ts";
import { checkPresencePrefixes, presenceTypes, readPresencePrefixes } from "./presence/config.ts";
import { appSecrets, checkPusher, readPusher, webhookTargets } from "./pusher/config.ts";
import { deadLetterTargets, readConsumers } from "./queues/config.ts";
import {
  neededPollSecrets,
  pollHookKeys,
  pollHooks,
  pollSecrets,
  readSharedPollSection,
  sharedPollsElsewhere,
  sharedPollType,
} from "./shared-polls/config.ts";

/** Reads the sections that come first. */
export function readFirst(root: Section): Pick<Config, "events"> {
  const events = readEventsSection(root.section("events"));
  return events ? { events } : {};
}

/** The backends of hooks, which are read before the sections that name them. */
interface ReadBackends {
  readonly proxies: NamedTargets;
  readonly ofClients: ClientHooks;
}

/** @param client the section `client` */
export function readHookBackends(root: Section, client: Section): ReadBackends {
  const proxies = readProxies(root);
  return { proxies, ofClients: readClientHooks(client.section("proxy")) };
}

/** The types of channels beside streams. */
export const channelTypes = [mapType, ...presenceTypes, receiptsType, sharedPollType] as const;

/** What features read of the section `channel`. */
export function channelFeatures(
  { proxies }: ReadBackends,
  { events }: Pick<Config, "events">,
): ChannelFeatures {
  const hookKeys = [...channelHookKeys, ...mapHookKeys, ...pollHookKeys];
  return {
    readBackends: (section) => readChannelBackends(section, hookKeys, proxies),
    besideType: [readPresencePrefixes],
    types: channelTypes,
    options: [readChannelHooks, readChanges, readCursors, readCalls],
    unsupported: { ...unsupportedHookOptions, ...mapsElsewhere, ...sharedPollsElsewhere },
    checks: [
      checkPresencePrefixes,
      checkChanges,
      (sections, channel) => checkCursors(sections, channel, events),
      checkReceipts,
    ],
  };
}

/** Reads the sections between the HTTP API and the transports. */
export function readAfterApi(
  root: Section,
  { proxies, ofClients }: ReadBackends,
  channel: ChannelConfig,
): Pick<Config, "rpc" | "hooks" | "console" | "prometheus"> {
  const rpc = readRpcSection(root.section("rpc"), proxies);
  const console = readConsoleSection(root.section("console"));
  const ofChannels = everyOptions(channel).flatMap((options) =>
    channelHooks(options).concat(mapHooks(options), pollHooks(options)),
  );
  return {
    rpc,
    hooks: allHooks(ofClients, rpc, ofChannels),
    ...(console && { console }),
    prometheus: readPrometheus(root.section("prometheus"), console?.enabled === true),
  };
}

/** Reads the sections that come last. */
export function readLast(
  root: Section,
  operations: OperationRows,
): Pick<Config, "sharedPoll" | "consumers" | "pusher"> {
  return {
    sharedPoll: readSharedPollSection(root.section("shared_poll")),
    consumers: readConsumers(root, operations),
    ...readPusher(root),
  };
}

/** They report problems of a configuration whose namespaces are known. */
export const checks: readonly ((config: Config, root: Section) => void)[] = [
  checkEvents,
  checkPusher,
];

/** The options of features, opened to all clients (rule A11). */
export function openedByFeatures(options: ChannelOptions): Partial<ChannelOptions> {
  return { ...openedMap(options), ...openedReceipts(options), ...openedCalls() };
}

export { withChannelCode } from "./procedures/config.ts";

/** All places to which a Worker with this configuration sends something. */
export function targetsOf(config: Config): readonly Target[] {
  return [...hookSignedTargets(config), ...webhookTargets(config)];
}

/** Those to which requests are signed with the hooks' secret. */
function hookSignedTargets(config: Config): readonly Target[] {
  return [...hookTargets(config), ...eventTargets(config), ...deadLetterTargets(config)];
}

/** The secrets that features may have. */
export function featureSecrets(): readonly SecretUse[] {
  return [
    ...secretPair(hookSecret, "hook", "HOOK_SIGNING_PREVIOUS_SECRET"),
    ...secretPair("METRICS_KEY", "metrics"),
    ...pollSecrets(),
    ...consoleSecrets(),
  ];
}

/** The secrets whose names stand in features' sections of the configuration. */
export function namedFeatureSecrets(config: Config): readonly SecretUse[] {
  return appSecrets(config);
}

/** Until when the previous secret for signatures of keys is valid, in seconds since 1970; 0 for no end. */
export function previousKeySecretEnd({ sharedPoll }: Config): number {
  return sharedPoll.hmacPreviousSecretKeyValidUntilSeconds;
}

/**
 * The names of the secrets without which the features of a configuration don't work.
 *
 * @param isUnsigned whether what is sent to a target needs no signature; queues need none
 */
export function neededFeatureSecrets(
  config: Config,
  isUnsigned: (target: Target) => boolean,
): readonly string[] {
  const isSigning = hookSignedTargets(config).some(
    (target) => target.endpoint.kind !== "queue" && !isUnsigned(target),
  );
  return [
    ...(isSigning ? [hookSecret] : []),
    ...neededConsoleSecrets(config),
    ...neededPollSecrets(config),
  ];
}

/**
 * The configuration under `npm start`: clients get the reasons of refusals, and the given secrets switch features on.
 */
export function inDevelopment(config: Config, given: Secrets): Config {
  const opened = consoleInDevelopment(config, given);
  return { ...opened, client: { ...opened.client, tellsReasons: true } };
}
