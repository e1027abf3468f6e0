import { limits } from "../limits.ts";
import { checkChannelOptions } from "./channel-options-check.ts";
import type { ChannelOptions } from "./config.ts";
import { readPattern } from "./regex.ts";
import type { Section } from "./section.ts";
import { readBoolean, readChoice, readDurationMs, readTexts, readWholeNumber } from "./fields.ts";
import { unsupportedChannelOptions } from "./unsupported.ts";

/** What the options of a namespace take from the `channel` section around them. */
export interface InheritedOptions {
  readonly section: Section;
  readonly historyMetaTtlMs: number;
}

/**
 * Reads what channels of one namespace may do, and checks that its options go together (reference 5.6).
 *
 * @param section takes the problems
 */
export function readChannelOptions(section: Section, inherited: InheritedOptions): ChannelOptions {
  const ownMetaTtlMs = readDurationMs(section, "history_meta_ttl", { defaultMs: 0 });
  const channelRegex = readPattern(section, "channel_regex");
  const options: ChannelOptions = {
    ...readFeatures(section),
    ...readPermissions(section),
    historyMetaTtlMs: ownMetaTtlMs === 0 ? inherited.historyMetaTtlMs : ownMetaTtlMs,
    ...(channelRegex === undefined ? {} : { channelRegex }),
    publicationDataFormat: readChoice(section, "publication_data_format", {
      choices: ["", "json", "json_object", "binary"],
    }),
  };
  const metaTtlOwner = ownMetaTtlMs === 0 ? inherited.section : section;
  checkChannelOptions(options, section, metaTtlOwner);
  section.refuseOthers(unsupportedChannelOptions);
  return options;
}

function readFeatures(section: Section) {
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
    allowDelta: readTexts(section, "allowed_delta_types", deltaType).length > 0,
    deltaPublish: readBoolean(section, "delta_publish"),
    allowTagsFilter: readBoolean(section, "allow_tags_filter"),
  };
}

const deltaType = { shape: /^fossil$/, meaning: '"fossil", the only type of delta there is' };

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
