import { limits } from "../../limits.ts";
import type { SharedPollConfig, SharedPollOptions } from "../../config/config.ts";
import { readBoolean, readChoice, readDurationMs, readWholeNumber } from "../../config/fields.ts";
import { type ChannelTargets, readNamedHook } from "../hooks/config.ts";
import type { Section } from "../../config/section.ts";
import {
  unsupportedSharedPollKeys,
  unsupportedSharedPollOptions,
} from "../../config/unsupported.ts";

/**
 * Reads the section `shared_poll`, whose options are for all shared polls (docs/protocol.md 3.5).
 *
 * @param section receives the problems
 */
export function readSharedPollSection(section: Section): SharedPollConfig {
  const name = "hmac_previous_secret_key_valid_until";
  const config = {
    hmacPreviousSecretKeyValidUntilSeconds: readWholeNumber(section, name, { default: 0, min: 0 }),
  };
  section.refuseOthers(unsupportedSharedPollKeys);
  return config;
}

/**
 * Reads the options `shared_poll.*` of a namespace (docs/protocol.md 3.5). As in Centrifugo, 0 stands for the default
 * of a number or of a duration.
 *
 * @param section receives the problems
 * @returns undefined after a problem, if there is no backend to poll
 */
export function readSharedPoll(
  section: Section,
  targets: ChannelTargets,
): SharedPollOptions | undefined {
  const own = { target: targets.sharedPollRefresh, path: "channel.proxy.shared_poll_refresh" };
  const refreshHook = readNamedHook(section, "proxy_name", own, targets.named);
  const mode = readChoice(section, "mode", { choices: ["", "versionless", "versioned"] });
  const publishEnabled = readBoolean(section, "publish_enabled");
  if (publishEnabled && mode !== "versioned" && section.isValid("mode"))
    section.problem("publish_enabled", 'requires mode "versioned"');
  const options = {
    mode: mode === "" ? "versionless" : mode,
    refreshIntervalMs: readPositiveMs(section, "refresh_interval", 10_000),
    refreshBatchSize: readPositive(section, "refresh_batch_size", 1_000, limits.pollBatchItemsMax),
    maxKeysPerConnection: readPositive(
      section,
      "max_keys_per_connection",
      5_000,
      limits.pollKeysPerConnectionMax,
    ),
    channelShutdownDelayMs: readPositiveMs(section, "channel_shutdown_delay", 1_000),
    trackExpiredExtraDelayMs: readPositiveMs(section, "track_expired_extra_delay", 25_000),
    publishEnabled,
  } as const;
  if (options.refreshIntervalMs < limits.pollIntervalMsMin)
    section.problem("refresh_interval", `is shorter than ${limits.pollIntervalMsMin / 1_000}s`);
  section.refuseOthers(unsupportedSharedPollOptions);
  return refreshHook && { ...options, refreshHook };
}

function readPositive(section: Section, name: string, byDefault: number, max: number): number {
  const value = readWholeNumber(section, name, { default: 0, min: 0, max });
  return value === 0 ? byDefault : value;
}

function readPositiveMs(section: Section, name: string, defaultMs: number): number {
  const value = readDurationMs(section, name, { defaultMs: 0 });
  return value === 0 ? defaultMs : value;
}
