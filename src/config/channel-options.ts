import { limits } from "../limits.ts";
import { checkChannelOptions } from "./channel-options-check.ts";
import type { ChannelOptions } from "./config.ts";
import { type PatternFault, patternFault } from "./linear-pattern.ts";
import type { Section } from "./section.ts";
import { readBoolean, readChoice, readDurationMs, readText, readWholeNumber } from "./setting.ts";
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
  const channelRegex = readChannelRegex(section);
  const options: ChannelOptions = {
    ...readFeatures(section),
    ...readPermissions(section),
    historyMetaTtlMs: ownMetaTtlMs === 0 ? inherited.historyMetaTtlMs : ownMetaTtlMs,
    ...(channelRegex === undefined ? {} : { channelRegex }),
    publicationDataFormat: readChoice(section, "publication_data_format", {
      choices: ["", "json", "json_object"],
      unsupported: ["binary"],
    }),
  };
  // Only checked, not kept: recovery from the stream is the one mode there is.
  readChoice(section, "force_recovery_mode", { choices: ["", "stream"], unsupported: ["cache"] });
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
    allowRecovery: readBoolean(section, "allow_recovery"),
    allowUserLimitedChannels: readBoolean(section, "allow_user_limited_channels"),
  };
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

/** Flag "u", so that one character of a name is one character of the pattern; never "g" or "y", which remember. */
function readChannelRegex(section: Section): RegExp | undefined {
  const source = readText(section, "channel_regex", { default: "" });
  if (source === "") return undefined;
  const pattern = compile(source);
  const fault = pattern === undefined ? "invalid" : patternFault(source);
  if (fault !== undefined) section.wrongValue("channel_regex", source, patternProblems[fault]);
  return pattern;
}

function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined; // Its only error says that the pattern is invalid.
  }
}

const patternProblems: Readonly<Record<PatternFault | "invalid", string>> = {
  invalid: "is not a regular expression of JavaScript",
  lookaround: "has a lookaround, which is not supported",
  backreference: "has a backreference, which is not supported",
  "nested-repetition":
    "repeats a group in which something is repeated or alternative: checking a name could take for ever",
};
