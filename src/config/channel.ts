import type { ChannelBackends, ChannelFeatures } from "./channel-features.ts";
import {
  dataOptions,
  inheritedOptions,
  lastingOptions,
  namespaceNameOptions,
  nameOptions,
  permissionOptions,
  streamOptions,
} from "./channel-options.ts";
import type { ChannelConfig, ChannelOptions } from "./config.ts";
import { checkNeeds, readOption, readOptions } from "./fields.ts";
import { readChannelPlacement } from "./placement.ts";
import type { Section } from "./section.ts";
import { readAll, readSubscriptionType, refuseStreamOptions } from "./subscription-type.ts";
import { unsupportedChannelKeys, unsupportedChannelOptions } from "./unsupported.ts";

/**
 * Reads `channel`: the syntax of channel names, and the options of each namespace (docs/protocol.md 5.4 and 5.6).
 *
 * @param section receives the problems
 */
export function readChannelSection(section: Section, features: ChannelFeatures): ChannelConfig {
  const { history_meta_ttl: metaTtl, publication_data_format: format } = inheritedOptions;
  const historyMetaTtlMs = readOption(section, "history_meta_ttl", metaTtl);
  const proxySection = section.section("proxy");
  const inherited = {
    section,
    historyMetaTtlMs,
    publicationDataFormat: readOption(section, "publication_data_format", format),
    features,
    backends: features.readBackends(proxySection),
  };
  const bare = section.section("without_namespace");
  const sections = new Map([["", bare]]);
  const config: ChannelConfig = {
    ...readOptions(section, nameOptions),
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
  return readOption(section, "name", namespaceNameOptions.name);
}

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
  const { historyMetaTtlMs: ownMetaTtlMs, ...lasting } = readOptions(section, lastingOptions);
  const ofStreams = readOptions(section, streamOptions);
  const { type, options: ofType } = readSubscriptionType(section, features, backends);
  const options: ChannelOptions = {
    ...ofStreams,
    ...readOptions(section, permissionOptions),
    ...readAll(features.options, section, backends),
    ...readChannelPlacement(section),
    ...lasting,
    historyMetaTtlMs: ownMetaTtlMs === 0 ? inherited.historyMetaTtlMs : ownMetaTtlMs,
    publicationDataFormat:
      readOption(section, "publication_data_format", dataOptions.publication_data_format) ||
      inherited.publicationDataFormat,
    ...ofType,
  };
  checkNeeds(section, streamOptions, ofStreams);
  if (type === undefined)
    checkHistory(options, section, ownMetaTtlMs === 0 ? inherited.section : section);
  else refuseStreamOptions(ofStreams, ownMetaTtlMs, section, type.unfit);
  section.refuseOthers({ ...features.unsupported, ...unsupportedChannelOptions });
  return options;
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
