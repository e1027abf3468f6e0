import { type SecretUse, secretPair } from "../../access/secrets.ts";
import {
  type ChannelOptions,
  type Config,
  everyOptions,
  type HookTarget,
} from "../../config/config.ts";
import { pollLimits } from "./limits.ts";
import { readBoolean, readChoice, readDurationMs, readWholeNumber } from "../../config/fields.ts";
import type { HookTargets } from "../hooks/config.ts";
import type { ChannelBackends, ChannelType } from "../../config/channel-features.ts";
import { not, pro, proSection, type UnsupportedKeys } from "../../config/unsupported.ts";
import type { Section } from "../../config/section.ts";

declare module "../../config/config.ts" {
  interface Config {
    readonly sharedPoll: SharedPollConfig;
  }
  interface ChannelTypes {
    readonly shared_poll: true;
  }
  interface ChannelOptions {
    /** Present if the channels are shared polls (docs/protocol.md 3.5). */
    readonly sharedPoll?: SharedPollOptions;
  }
}

/** The section `shared_poll`, whose options are for all shared polls (docs/protocol.md 3.5). */
export interface SharedPollConfig {
  /** The time until which the previous secret signs keys, in seconds since 1970; 0 for no end. */
  readonly hmacPreviousSecretKeyValidUntilSeconds: number;
}

/** The options `shared_poll` of a namespace whose channels are shared polls (docs/protocol.md 3.5). */
export interface SharedPollOptions {
  /** The backend that is polled. */
  readonly refreshHook: HookTarget;
  /** Whether the backend gives versions to the values of a key, or changes are found by comparing the values. */
  readonly mode: "versionless" | "versioned";
  readonly refreshIntervalMs: number;
  /** The most keys of one question. */
  readonly refreshBatchSize: number;
  readonly maxKeysPerConnection: number;
  /** How long a channel is kept whose last key isn't tracked any more. */
  readonly channelShutdownDelayMs: number;
  /** How long a key is tracked whose signature has expired. */
  readonly trackExpiredExtraDelayMs: number;
  /** Backends may publish to the channels. */
  readonly publishEnabled: boolean;
}

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
function readSharedPoll(
  section: Section,
  backends: ChannelBackends,
): SharedPollOptions | undefined {
  const refreshHook = backends.named(section, "proxy_name", "shared_poll_refresh");
  const mode = readChoice(section, "mode", { choices: ["", "versionless", "versioned"] });
  const publishEnabled = readBoolean(section, "publish_enabled");
  if (publishEnabled && mode !== "versioned" && section.isValid("mode"))
    section.problem("publish_enabled", 'requires mode "versioned"');
  const options = {
    mode: mode === "" ? "versionless" : mode,
    refreshIntervalMs: readPositiveMs(section, "refresh_interval", 10_000),
    refreshBatchSize: readPositive(
      section,
      "refresh_batch_size",
      1_000,
      pollLimits.pollBatchItemsMax,
    ),
    maxKeysPerConnection: readPositive(
      section,
      "max_keys_per_connection",
      5_000,
      pollLimits.pollKeysPerConnectionMax,
    ),
    channelShutdownDelayMs: readPositiveMs(section, "channel_shutdown_delay", 1_000),
    trackExpiredExtraDelayMs: readPositiveMs(section, "track_expired_extra_delay", 25_000),
    publishEnabled,
  } as const;
  if (options.refreshIntervalMs < pollLimits.pollIntervalMsMin)
    section.problem("refresh_interval", `is shorter than ${pollLimits.pollIntervalMsMin / 1_000}s`);
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

/** `shared_poll.*` (docs/protocol.md 3.5). */
export const unsupportedSharedPollKeys: UnsupportedKeys = {
  hmac_secret_key: { refusal: "is a secret: set SHARED_POLL_HMAC_SECRET_KEY instead" },
  hmac_previous_secret_key: {
    refusal: "is a secret: set SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY instead",
  },
  notification: proSection,
  concurrency_limit: {
    ...not,
    accepted: "number",
    because: "each channel's object bounds how much it asks at a time",
  },
};

/** `shared_poll.*` of a namespace. */
const unsupportedSharedPollOptions: UnsupportedKeys = {
  keep_latest_data: pro,
  backpressure_max_interval: pro,
  notification: pro,
};

/** The section of shared polls in a namespace of another type. */
export const sharedPollsElsewhere: UnsupportedKeys = {
  shared_poll: {
    refusal: 'is for namespaces of the subscription_type "shared_poll"',
    accepted: {
      proxy_name: ["default"],
      refresh_interval: ["10s"],
      refresh_batch_size: [1_000],
      max_keys_per_connection: [5_000],
      mode: ["versionless"],
      channel_shutdown_delay: ["1s", "1000ms"],
      track_expired_extra_delay: ["25s"],
    },
  },
};

/** Shared polls as a type of channels. */
export const sharedPollType: ChannelType = {
  name: "shared_poll",
  section: "shared_poll",
  read: (section, beside, backends) => {
    const sharedPoll = readSharedPoll(section.section("shared_poll"), backends);
    return { ...beside, ...(sharedPoll && { sharedPoll }) };
  },
  unfit: {
    channels: "shared polls",
    history: "which keep no history",
    recovery: "which keep no history",
    deltaPublish: "which send deltas to all who ask for them",
    tags: "which have no tags",
  },
};

/** The keys of `channel.proxy` that hooks of shared polls have. */
export const pollHookKeys = ["shared_poll_refresh"];

/** The backend of one namespace's shared polls. */
export function pollHooks({ sharedPoll }: ChannelOptions): HookTargets {
  return [sharedPoll?.refreshHook];
}

/** Signs the keys that clients may track (docs/protocol.md 3.5). */
const sharedPollSecret = "SHARED_POLL_HMAC_SECRET_KEY";

export function pollSecrets(): readonly SecretUse[] {
  return secretPair(sharedPollSecret, "poll", "SHARED_POLL_HMAC_PREVIOUS_SECRET_KEY");
}

/** The secrets without which shared polls don't work. */
export function neededPollSecrets({ channel }: Config): readonly string[] {
  return everyOptions(channel).some(({ sharedPoll }) => sharedPoll !== undefined)
    ? [sharedPollSecret]
    : [];
}
