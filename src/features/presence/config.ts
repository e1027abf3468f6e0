import { presenceLimits } from "./limits.ts";
import type { ChannelConfig, ChannelOptions } from "../../config/config.ts";
import { readChoice, readDurationMs, readText } from "../../config/fields.ts";
import type { ChannelType, UnfitOptions } from "../../config/channel-features.ts";
import { type MapOptions, readPages } from "../maps/config.ts";
import type { PresenceKind } from "../../contract/relay-request.ts";
import { partsOf } from "../../config/name-parts.ts";
import type { Section } from "../../config/section.ts";
import type { UnsupportedKey, UnsupportedKeys } from "../../config/unsupported.ts";

declare module "../../config/config.ts" {
  interface ChannelTypes {
    readonly map_clients: true;
    readonly map_users: true;
  }
  interface ChannelOptions {
    /**
     * The prefixes that make a channel's name that of its presence map, by what the keys of the map are (rule Z36);
     * absent if the channels have none.
     */
    readonly presenceMaps?: PresencePrefixes;
  }
}

/** None of them is empty; absent where there is no such map. */
type PresencePrefixes = { readonly [Kind in PresenceKind]?: string };

/**
 * Reads `map.*` of a namespace of presence maps, whose keys are the subscribers of other channels (rule Z21). They are in
 * memory only, because they can be found out again at any time.
 *
 * @param namespace receives the problems
 * @param type      its `subscription_type`
 */
function readPresenceMap(
  namespace: Section,
  beside: Prefixes,
  type: PresenceMapType,
): Partial<ChannelOptions> {
  refusePrefixes(namespace, beside);
  const section = namespace.section("map");
  const choices = ["", "ephemeral", "recoverable", "persistent"] as const;
  const mode = readChoice(section, "mode", { choices });
  if (mode !== "" && mode !== "ephemeral")
    section.problem("mode", `has to be "ephemeral" for "${type}", whose keys are in memory`);
  const keyTtlMs = readDurationMs(section, "key_ttl", {
    defaultMs: 0,
    minMs: presenceLimits.presenceKeyTtlMsMin,
    maxMs: presenceLimits.presenceKeyTtlMsMax,
  });
  if (keyTtlMs === 0 && section.isValid("key_ttl"))
    section.problem("key_ttl", `is missing: "${type}" requires it`);
  const map: MapOptions = { ...nothingChanges, mode: "ephemeral", keyTtlMs, ...readPages(section) };
  section.refuseOthers(unfitOptions);
  return { map, historySize: 0, historyTtlMs: 0, historyMetaTtlMs: keyTtlMs };
}

/** The subscription types whose channels are presence maps. */
type PresenceMapType = "map_clients" | "map_users";

/** Reads the prefixes of a namespace whose channels aren't presence maps themselves; none if there are none. */
export function readPresencePrefixes(section: Section): Prefixes {
  const given = optionNames.flatMap(({ kind, option }) => {
    const prefix = readText(section, option, { default: "" });
    return prefix === "" ? [] : [[kind, prefix] as const];
  });
  return given.length === 0 ? {} : { presenceMaps: Object.fromEntries(given) };
}

type Prefixes = { readonly presenceMaps?: PresencePrefixes };

/** Reports the prefixes of a namespace whose channels are presence maps: nobody's subscription to those is shown. */
function refusePrefixes(section: Section, { presenceMaps = {} }: Prefixes): void {
  for (const { kind, option } of optionNames)
    if (presenceMaps[kind] !== undefined)
      section.problem(option, "is not for presence maps themselves");
}

/**
 * Reports prefixes that don't lead to channels of the right type, and those of which one begins with another: the name of a
 * map has to say of which channel it is.
 *
 * @param sections of the namespaces, by their names; "" for channels without one
 */
export function checkPresencePrefixes(
  sections: ReadonlyMap<string, Section>,
  channel: ChannelConfig,
): void {
  const optionsOf = (name: string): ChannelOptions | undefined =>
    name === "" ? channel.withoutNamespace : channel.namespaces.get(name);
  const given = [...sections].flatMap(([name, section]) =>
    optionNames.flatMap(({ kind, option, type }) => {
      const prefix = optionsOf(name)?.presenceMaps?.[kind];
      return prefix === undefined ? [] : [{ name, section, option, type, prefix }];
    }),
  );
  const known: string[] = [];
  for (const { name, section, option, type, prefix } of given) {
    const example = name === "" ? prefix : prefix + name + channel.namespaceBoundary;
    const target = partsOf(example, channel).namespace ?? "";
    if (optionsOf(target)?.subscriptionType === type) known.push(prefix);
    else
      section.wrongValue(option, prefix, `leads to no namespace with subscription_type "${type}"`);
  }
  for (const { section, option, prefix } of given) {
    if (known.some((other) => other !== prefix && prefix.startsWith(other)))
      section.wrongValue(option, prefix, "begins with the prefix of another presence map");
  }
}

const optionNames = [
  { kind: "clients", option: "map_clients_presence_channel_prefix", type: "map_clients" },
  { kind: "users", option: "map_users_presence_channel_prefix", type: "map_users" },
] as const;

/** Nobody changes a presence map but the server. */
const nothingChanges = {
  appendWindowMs: 0,
  removeClientOnUnsubscribe: false,
  clientKey: "",
  allowPublishForClient: false,
  allowPublishForSubscriber: false,
  allowPublishForAnonymous: false,
  allowRemoveForClient: false,
  allowRemoveForSubscriber: false,
  allowRemoveForAnonymous: false,
} as const;

const change: UnsupportedKey = { refusal: "is not for presence maps, which nobody changes" };
const proxyName: UnsupportedKey = { ...change, accepted: ["default"] };
const stream: UnsupportedKey = {
  refusal: "is not for presence maps, which are ephemeral and have no stream",
};

/** The options of maps that a presence map hasn't, unless they ask for nothing. */
const unfitOptions: UnsupportedKeys = {
  remove_client_on_unsubscribe: change,
  client_key: change,
  allow_publish_for_client: change,
  allow_publish_for_subscriber: change,
  allow_publish_for_anonymous: change,
  allow_remove_for_client: change,
  allow_remove_for_subscriber: change,
  allow_remove_for_anonymous: change,
  publish_proxy_enabled: change,
  remove_proxy_enabled: change,
  publish_proxy_name: proxyName,
  remove_proxy_name: proxyName,
  stream_size: stream,
  stream_ttl: stream,
  meta_ttl: stream,
  ordered: change,
};

const unfit: UnfitOptions = {
  channels: "presence maps",
  history: "whose stream has map.stream_size and its like",
  recovery: "which are always recovered",
  allowedDeltas: "which have no deltas",
  deltaPublish: "which have no deltas",
  tags: "which have no tags",
};

/** Presence maps as types of channels. */
export const presenceTypes: readonly ChannelType[] = [
  {
    name: "map_clients",
    section: "map",
    read: (section, beside) => readPresenceMap(section, beside, "map_clients"),
    unfit,
  },
  {
    name: "map_users",
    section: "map",
    read: (section, beside) => readPresenceMap(section, beside, "map_users"),
    unfit,
  },
];
