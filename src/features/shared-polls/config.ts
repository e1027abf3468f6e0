import { type SecretUse, secretPair } from "../../access/secrets.ts";
import {
  type ChannelOptions,
  type Config,
  everyOptions,
  type HookTarget,
} from "../../config/config.ts";
import { pollLimits } from "./limits.ts";
import { checkNeeds, readOptions } from "../../config/fields.ts";
import type { Options, Values } from "../../config/option.ts";
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
export type SharedPollConfig = Values<typeof allPollsOptions>;

export const allPollsOptions = {
  /** Until when signatures of the previous secret are accepted, in seconds since 1970; 0 for no end. */
  hmac_previous_secret_key_valid_until: { is: "whole", default: 0, min: 0, unit: "Seconds" },
} as const satisfies Options;

/** The options `shared_poll` of a namespace whose channels are shared polls (docs/protocol.md 3.5). */
export interface SharedPollOptions
  extends Values<typeof pollKindOptions>, Values<typeof pollOptions> {
  /** The backend that is polled. */
  readonly refreshHook: HookTarget;
}

/** The option that names the polled backend. */
export const pollHookOptions = {
  /** The backend that is polled: `"default"` for `channel.proxy.shared_poll_refresh`, or the name of one of `proxies`. */
  proxy_name: { is: "text", default: "default" },
} as const satisfies Options;

/** How changes of a shared poll are found. */
export const pollKindOptions = {
  /** `"versionless"`: changes are found by comparing the values; `"versioned"`: the backend gives each value a version. */
  mode: { is: "choice", of: ["", "versionless", "versioned"], zeroIs: "versionless" },
  /** Backends may publish values with `shared_poll_publish`. */
  publish_enabled: { is: "boolean", needs: ["mode", "versioned"] },
} as const satisfies Options;

/** The options about the requests of a shared poll. As in Centrifugo, 0 stands for the default. */
export const pollOptions = {
  /** How often the backend is polled, from 100 ms on. */
  refresh_interval: { is: "duration", zeroIs: 10_000 },
  /** The most keys of one question. */
  refresh_batch_size: {
    is: "whole",
    default: 0,
    min: 0,
    max: pollLimits.pollBatchItemsMax,
    zeroIs: 1_000,
  },
  /** The most keys that a connection may track. */
  max_keys_per_connection: {
    is: "whole",
    default: 0,
    min: 0,
    max: pollLimits.pollKeysPerConnectionMax,
    zeroIs: 5_000,
  },
  /** How long a channel is kept whose last key isn't tracked any more. */
  channel_shutdown_delay: { is: "duration", zeroIs: 1_000 },
  /** How long a key is tracked whose signature has expired. */
  track_expired_extra_delay: { is: "duration", zeroIs: 25_000 },
} as const satisfies Options;

/**
 * Reads the section `shared_poll`, whose options are for all shared polls (docs/protocol.md 3.5).
 *
 * @param section receives the problems
 */
export function readSharedPollSection(section: Section): SharedPollConfig {
  const config = readOptions(section, allPollsOptions);
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
  const kind = readOptions(section, pollKindOptions);
  checkNeeds(section, pollKindOptions, kind);
  const options = { ...kind, ...readOptions(section, pollOptions) };
  if (options.refreshIntervalMs < pollLimits.pollIntervalMsMin)
    section.problem("refresh_interval", `is shorter than ${pollLimits.pollIntervalMsMin / 1_000}s`);
  section.refuseOthers(unsupportedSharedPollOptions);
  return refreshHook && { ...options, refreshHook };
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
export const unsupportedSharedPollOptions: UnsupportedKeys = {
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
