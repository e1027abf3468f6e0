import type { ChannelOptions } from "../../../config/config.ts";
import type { UnfitOptions } from "../../../config/channel-features.ts";
import { readOption } from "../../../config/fields.ts";
import type { Section } from "../../../config/section.ts";
import type { UnsupportedKey, UnsupportedKeys } from "../../../config/unsupported.ts";
import { keyOptions, type MapOptions, readPages } from "../config.ts";
import { mapLimits } from "../limits.ts";

/**
 * Reads `map.*` of a namespace of mirrors, whose keys come from other channels (rule Z21). They are in memory only, because
 * they can be found out again at any time.
 *
 * @param namespace receives the problems
 * @param type      its `subscription_type`
 * @param channels  the mirrors in a sentence, such as `presence maps`
 */
export function readMirror(
  namespace: Section,
  type: ChannelOptions["subscriptionType"],
  channels: string,
): Partial<ChannelOptions> {
  const section = namespace.section("map");
  const mode = readOption(section, "mode", keyOptions.mode);
  if (mode !== "" && mode !== "ephemeral")
    section.problem("mode", `has to be "ephemeral" for "${type}", whose keys are in memory`);
  const keyTtlMs = readOption(section, "key_ttl", {
    is: "duration",
    min: mapLimits.mirrorKeyTtlMsMin,
    max: mapLimits.mirrorKeyTtlMsMax,
  });
  if (keyTtlMs === 0 && section.isValid("key_ttl"))
    section.problem("key_ttl", `is missing: "${type}" requires it`);
  const map: MapOptions = { ...nothingChanges, mode: "ephemeral", keyTtlMs, ...readPages(section) };
  section.refuseOthers(unfitMapOptions(channels));
  return { map, historySize: 0, historyTtlMs: 0, historyMetaTtlMs: keyTtlMs };
}

/** Why options of streams have no effect on mirrors. */
export const unfitForMirrors: Omit<UnfitOptions, "channels"> = {
  history: "whose stream has map.stream_size and its like",
  recovery: "which are always recovered",
  allowedDeltas: "which have no deltas",
  deltaPublish: "which have no deltas",
  tags: "which have no tags",
};

/** The server alone changes a mirror. */
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

/** The options of maps that a mirror hasn't, unless they ask for nothing. */
function unfitMapOptions(channels: string): UnsupportedKeys {
  const change: UnsupportedKey = { refusal: `is not for ${channels}, which nobody changes` };
  const proxyName: UnsupportedKey = { ...change, accepted: ["default"] };
  const stream: UnsupportedKey = {
    refusal: `is not for ${channels}, which are ephemeral and have no stream`,
  };
  return {
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
}
