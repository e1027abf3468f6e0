import type { ChannelOptions } from "./config.ts";
import { readChoice } from "./fields.ts";
import type { ChannelTargets } from "../features/hooks/config.ts";
import { readMap } from "../features/maps/config.ts";
import {
  readPresenceMap,
  readPresencePrefixes,
  refusePrefixes,
} from "../features/presence/config.ts";
import type { Section } from "./section.ts";
import { readSharedPoll } from "../features/shared-polls/config.ts";

/**
 * The options that the subscription type of a namespace adds; those of a map include its stream, which is its history.
 */
type TypeOptions = Pick<
  ChannelOptions,
  "subscriptionType" | "map" | "sharedPoll" | "presenceMaps"
> &
  Partial<Pick<ChannelOptions, "historySize" | "historyTtlMs" | "historyMetaTtlMs">>;

/**
 * Reads `subscription_type` and what belongs to it: the options `map.*` or `shared_poll.*` (docs/protocol.md 5.6). The
 * options of another type are left to whoever refuses unknown keys.
 *
 * @param section of the namespace; receives the problems
 */
export function readSubscriptionType(section: Section, targets: ChannelTargets): TypeOptions {
  const type = readChoice(section, "subscription_type", { choices: typeNames });
  const prefixes = readPresencePrefixes(section);
  if (!section.isValid("subscription_type")) {
    // The type is misspelt, so it isn't known which options belong to it.
    section.take("map");
    section.take("shared_poll");
    return { subscriptionType: "stream" };
  }
  switch (type) {
    case "":
    case "stream":
      return { subscriptionType: "stream", ...prefixes };
    case "map_clients":
    case "map_users":
      refusePrefixes(section, prefixes);
      return { subscriptionType: type, ...readPresenceMap(section.section("map"), type) };
    case "map":
      return { subscriptionType: "map", ...prefixes, ...readMap(section.section("map"), targets) };
    case "shared_poll": {
      const sharedPoll = readSharedPoll(section.section("shared_poll"), targets);
      return { subscriptionType: "shared_poll", ...prefixes, ...(sharedPoll && { sharedPoll }) };
    }
  }
}

const typeNames = ["", "stream", "map", "map_clients", "map_users", "shared_poll"] as const;

/**
 * Reports the options of streams that a namespace of another type has: they would have no effect.
 *
 * @param features the options as they were written, before the type's own stream
 * @param metaTtlMs the namespace's own `history_meta_ttl`; 0 for none
 * @param section of the namespace; receives the problems
 */
export function refuseStreamOptions(
  features: StreamFeatures,
  metaTtlMs: number,
  section: Section,
  type: Exclude<ChannelOptions["subscriptionType"], "stream">,
): void {
  const isPoll = type === "shared_poll";
  const isPresence = type === "map_clients" || type === "map_users";
  const isBare = isPoll || isPresence;
  const subject = isPoll ? "shared polls" : isPresence ? "presence maps" : "maps";
  const stream = isPoll ? "which keep no history" : "whose stream has map.stream_size and its like";
  const always = isPoll ? "which keep no history" : "which are always recovered";
  const { historySize, historyTtlMs, recoveryMode, allowDelta, deltaPublish } = features;
  const unfit = [
    ["history_size", historySize > 0, stream],
    ["history_ttl", historyTtlMs > 0, stream],
    ["history_meta_ttl", metaTtlMs > 0, stream],
    ["force_positioning", features.forcePositioning, always],
    ["allow_positioning", features.allowPositioning, always],
    ["force_recovery", features.forceRecovery, always],
    ["allow_recovery", features.allowRecovery, always],
    ["force_recovery_mode", recoveryMode === "cache", always],
    ["auto_cache_recover", features.autoCacheRecover, always],
    ["allowed_delta_types", isPresence && allowDelta, "which have no deltas"],
    ["delta_publish", isPoll && deltaPublish, "which send deltas to all who ask for them"],
    ["delta_publish", isPresence && deltaPublish, "which have no deltas"],
    ["allow_tags_filter", isBare && features.allowTagsFilter, "which have no tags"],
  ] as const;
  for (const [name, isOn, reason] of unfit) {
    if (isOn) section.problem(name, `is not for ${subject}, ${reason}`);
  }
}

type StreamFeatures = Pick<
  ChannelOptions,
  | "historySize"
  | "historyTtlMs"
  | "forcePositioning"
  | "allowPositioning"
  | "forceRecovery"
  | "allowRecovery"
  | "recoveryMode"
  | "autoCacheRecover"
  | "allowDelta"
  | "deltaPublish"
  | "allowTagsFilter"
>;
