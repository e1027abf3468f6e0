import type { ChannelBackends, ChannelFeatures } from "./channel-features.ts";
import type { ChannelConfig, ChannelOptions } from "./config.ts";
import type { Section } from "./section.ts";
import {
  readDurationMs,
  readText,
  readWholeNumber,
  readBoolean,
  readChoice,
  readTexts,
} from "./fields.ts";
import { readChannelPlacement } from "./placement.ts";
import { unsupportedChannelKeys, unsupportedChannelOptions } from "./unsupported.ts";
import { limits } from "../limits.ts";
import { readPattern } from "./regex.ts";
import { readAll, readSubscriptionType, refuseStreamOptions } from "./subscription-type.ts";

/**
 * Reads `channel`: the syntax of channel names, and the options of each namespace (docs/protocol.md 5.4 and 5.6).
 *
 * @param section receives the problems
 */
export function readChannelSection(section: Section, features: ChannelFeatures): ChannelConfig {
  const historyMetaTtlMs = readDurationMs(section, "history_meta_ttl", {
    defaultMs: historyMetaTtlDefaultMs,
  });
  const proxySection = section.section("proxy");
  const inherited = {
    section,
    historyMetaTtlMs,
    publicationDataFormat: readDataFormat(section),
    features,
    backends: features.readBackends(proxySection),
  };
  const bare = section.section("without_namespace");
  const sections = new Map([["", bare]]);
  const config: ChannelConfig = {
    maxLengthBytes: readWholeNumber(section, "max_length", { default: 255, min: 1, max: 1_000 }),
    privatePrefix: readText(section, "private_prefix", { default: "$" }),
    namespaceBoundary: readText(section, "namespace_boundary", { default: ":" }),
    userBoundary: readText(section, "user_boundary", { default: "#" }),
    userSeparator: readText(section, "user_separator", { default: "," }),
    withoutNamespace: readChannelOptions(bare, inherited),
    namespaces: readNamespaces(section.sections("namespaces", "name"), inherited, sections),
  };
  for (const check of features.checks) check(sections, config);
  section.refuseOthers(unsupportedChannelKeys);
  return config;
}

/** @param byName gets the sections whose names are valid */
function readNamespaces(
  sections: readonly Section[],
  inherited: InheritedOptions,
  byName: Map<string, Section>,
): ReadonlyMap<string, ChannelOptions> {
  const namespaces = new Map<string, ChannelOptions>();
  const owners = new Map<string, string>();
  for (const section of sections) {
    const name = readNamespaceName(section);
    section.demandUnique("name", owners);
    if (name !== "") byName.set(name, section);
    namespaces.set(name, readChannelOptions(section, inherited));
  }
  return namespaces;
}

/** Reads the name of a namespace; reports a missing or invalid name, and then returns "". */
function readNamespaceName(section: Section): string {
  if (section.take("name") === undefined) {
    section.problem("name", "is missing");
    return "";
  }
  return readText(section, "name", {
    default: "",
    shape: /^[-a-zA-Z0-9_.]{2,}$/,
    meaning: "a namespace name: two or more of A-Z, a-z, 0-9, -, _ and .",
  });
}

/** 720h. */
const historyMetaTtlDefaultMs = 2_592_000_000;

/** The values that the options of a namespace inherit from the `channel` section. */
interface InheritedOptions {
  readonly section: Section;
  readonly historyMetaTtlMs: number;
  readonly publicationDataFormat: ChannelOptions["publicationDataFormat"];
  readonly features: ChannelFeatures;
  readonly backends: ChannelBackends;
}

/**
 * Reads the options of one namespace, and checks that they can be combined (docs/protocol.md 5.6).
 *
 * @param section receives the problems
 */
function readChannelOptions(section: Section, inherited: InheritedOptions): ChannelOptions {
  const { features, backends } = inherited;
  const ownMetaTtlMs = readDurationMs(section, "history_meta_ttl", { defaultMs: 0 });
  const channelRegex = readPattern(section, "channel_regex");
  const ofStreams = readStreamOptions(section);
  const { type, options: ofType } = readSubscriptionType(section, features, backends);
  const options: ChannelOptions = {
    ...ofStreams,
    ...readPermissions(section),
    ...readAll(features.options, section, backends),
    ...readChannelPlacement(section),
    historyMetaTtlMs: ownMetaTtlMs === 0 ? inherited.historyMetaTtlMs : ownMetaTtlMs,
    ...(channelRegex && { channelRegex }),
    publicationDataFormat: readDataFormat(section) || inherited.publicationDataFormat,
    ...ofType,
  };
  checkChannelOptions(options, section);
  if (type === undefined)
    checkHistory(options, section, ownMetaTtlMs === 0 ? inherited.section : section);
  else refuseStreamOptions(ofStreams, ownMetaTtlMs, section, type.unfit);
  section.refuseOthers({ ...features.unsupported, ...unsupportedChannelOptions });
  return options;
}

/** "" in a namespace stands for the format of the whole section. */
function readDataFormat(section: Section): ChannelOptions["publicationDataFormat"] {
  return readChoice(section, "publication_data_format", {
    choices: ["", "json", "json_object", "binary"],
  });
}

function readStreamOptions(section: Section) {
  return {
    presence: readBoolean(section, "presence"),
    joinLeave: readBoolean(section, "join_leave"),
    forcePushJoinLeave: readBoolean(section, "force_push_join_leave"),
    historySize: readWholeNumber(section, "history_size", {
      default: 0,
      min: 0,
      max: limits.historySizeMax,
    }),
    historyTtlMs: readDurationMs(section, "history_ttl", { defaultMs: 0 }),
    forcePositioning: readBoolean(section, "force_positioning"),
    allowPositioning: readBoolean(section, "allow_positioning"),
    forceRecovery: readBoolean(section, "force_recovery"),
    recoveryMode: readRecoveryMode(section),
    autoCacheRecover: readBoolean(section, "auto_cache_recover"),
    allowRecovery: readBoolean(section, "allow_recovery"),
    allowUserLimitedChannels: readBoolean(section, "allow_user_limited_channels"),
    limitedChannelsForSubscribersOnly: readBoolean(
      section,
      "limited_channels_for_subscribers_only",
    ),
    allowDelta: readTexts(section, "allowed_delta_types", deltaType).length > 0,
    deltaPublish: readBoolean(section, "delta_publish"),
    allowTagsFilter: readBoolean(section, "allow_tags_filter"),
  };
}

const deltaType = { shape: /^fossil$/, meaning: '"fossil", the only delta type' };

function readRecoveryMode(section: Section): ChannelOptions["recoveryMode"] {
  const mode = readChoice(section, "force_recovery_mode", { choices: ["", "stream", "cache"] });
  return mode === "" ? "stream" : mode;
}

function readPermissions(section: Section) {
  return {
    allowSubscribeForClient: readBoolean(section, "allow_subscribe_for_client"),
    allowSubscribeForAnonymous: readBoolean(section, "allow_subscribe_for_anonymous"),
    allowPublishForClient: readBoolean(section, "allow_publish_for_client"),
    allowPublishForSubscriber: readBoolean(section, "allow_publish_for_subscriber"),
    allowPublishForAnonymous: readBoolean(section, "allow_publish_for_anonymous"),
    allowPresenceForClient: readBoolean(section, "allow_presence_for_client"),
    allowPresenceForSubscriber: readBoolean(section, "allow_presence_for_subscriber"),
    allowPresenceForAnonymous: readBoolean(section, "allow_presence_for_anonymous"),
    allowHistoryForClient: readBoolean(section, "allow_history_for_client"),
    allowHistoryForSubscriber: readBoolean(section, "allow_history_for_subscriber"),
    allowHistoryForAnonymous: readBoolean(section, "allow_history_for_anonymous"),
  };
}

/**
 * Reports options of one namespace that have no effect without another option. A key whose own value is invalid has
 * been reported already, and causes no further problem here.
 *
 * @param section where the options stand; receives the problems
 */
function checkChannelOptions(options: ChannelOptions, section: Section): void {
  if (options.forcePushJoinLeave && !options.joinLeave && section.isValid("join_leave")) {
    section.problem("force_push_join_leave", "requires join_leave");
  }
  const cacheMissing = options.recoveryMode !== "cache" && section.isValid("force_recovery_mode");
  if (options.autoCacheRecover && cacheMissing) {
    section.problem("auto_cache_recover", 'requires force_recovery_mode "cache"');
  }
  if (options.deltaPublish && !options.allowDelta && section.isValid("allowed_delta_types")) {
    section.problem("delta_publish", "requires allowed_delta_types");
  }
}

/**
 * Reports options of a stream that contradict its history, or need one.
 *
 * @param section where the options stand; receives the problems
 * @param metaTtlOwner the section that `options.historyMetaTtlMs` comes from: the same one, or `channel`
 */
function checkHistory(options: ChannelOptions, section: Section, metaTtlOwner: Section): void {
  if (!section.isValid("history_size") || !section.isValid("history_ttl")) return;
  checkHistoryDependents(options, section);
  if (options.historySize > 0 && options.historyTtlMs === 0) {
    section.problem("history_size", "requires history_ttl");
  }
  if (options.historyTtlMs > 0 && options.historySize === 0) {
    section.problem("history_ttl", "requires history_size");
  }
  if (!section.isValid("history_meta_ttl") || !metaTtlOwner.isValid("history_meta_ttl")) return;
  // A position must outlive the publications that it refers to. Otherwise a returning client would be told of a loss
  // although nothing was lost.
  if (options.historyMetaTtlMs < options.historyTtlMs) {
    section.problem("history_ttl", `is longer than ${metaTtlOwner.pathOf("history_meta_ttl")}`);
  }
}

/**
 * Reports options that need history. A position is a position in the history: without history there is nothing to
 * recover from, and deltas are sent to positioned subscribers only.
 */
function checkHistoryDependents(options: ChannelOptions, section: Section): void {
  if (options.historySize > 0 && options.historyTtlMs > 0) return;
  const dependents = [
    ["force_positioning", options.forcePositioning],
    ["allow_positioning", options.allowPositioning],
    ["force_recovery", options.forceRecovery],
    ["allow_recovery", options.allowRecovery],
    ["force_recovery_mode", options.recoveryMode === "cache"],
    ["allowed_delta_types", options.allowDelta],
    ["delta_publish", options.deltaPublish],
  ] as const;
  for (const [name, used] of dependents) {
    if (used) section.problem(name, "requires history: set history_size and history_ttl");
  }
}
