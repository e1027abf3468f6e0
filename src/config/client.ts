import { originFault } from "../access/origin.ts";
import { limits } from "../limits.ts";
import type { ClientConfig, Config, PersonalChannelConfig, UsersConfig } from "./config.ts";
import type { Section } from "./section.ts";
import {
  readBoolean,
  readChoice,
  readDurationMs,
  readText,
  readTexts,
  readWholeNumber,
} from "./fields.ts";
import { readInsecure } from "./insecure.ts";
import { readRateLimits } from "./rate-limit.ts";
import { readSubscriptionTokenSection, readTokenSection } from "./tokens.ts";
import { unsupportedClientKeys } from "./unsupported.ts";

/**
 * Reads `client`: how connections are admitted, kept and closed (docs/protocol.md 5.7).
 *
 * @param section receives the problems
 */
export function readClientSection(section: Section): ClientConfig {
  const subscriptionToken = readSubscriptionTokenSection(section.section("subscription_token"));
  const config: ClientConfig = {
    allowedOrigins: readTexts(section, "allowed_origins", originFault).map((pattern) =>
      pattern.toLowerCase(),
    ),
    allowAnonymousConnectWithoutToken: readBoolean(
      section,
      "allow_anonymous_connect_without_token",
    ),
    disallowAnonymousConnectionTokens: readBoolean(section, "disallow_anonymous_connection_tokens"),
    pingIntervalMs: readDurationMs(section, "ping_interval", {
      defaultMs: 25_000,
      minMs: 1_000,
      maxMs: 3_600_000,
      wholeSeconds: true,
    }),
    pong: readChoice(section, "pong", { choices: ["auto", "always", "never"] }),
    staleCloseDelayMs: readDurationMs(section, "stale_close_delay", {
      defaultMs: 10_000,
      minMs: 1_000,
    }),
    expiredCloseDelayMs: readDurationMs(section, "expired_close_delay", { defaultMs: 25_000 }),
    expiredSubCloseDelayMs: readDurationMs(section, "expired_sub_close_delay", {
      defaultMs: 25_000,
    }),
    queueMaxSizeBytes: readWholeNumber(section, "queue_max_size", {
      default: 1_048_576,
      // A smaller queue couldn't take one large frame.
      min: 65_536,
    }),
    historyMaxPublicationLimit: readWholeNumber(
      section,
      "history_max_publication_limit",
      publicationLimit,
    ),
    recoveryMaxPublicationLimit: readWholeNumber(
      section,
      "recovery_max_publication_limit",
      publicationLimit,
    ),
    connectionLimit: readConnectionLimit(section),
    userConnectionLimit: readWholeNumber(section, "user_connection_limit", {
      default: 0,
      min: 0,
      max: limits.userConnectionLimitMax,
    }),
    connectionRateLimit: readWholeNumber(section, "connection_rate_limit", { default: 0, min: 0 }),
    ...readRateLimits(section.section("rate_limit")),
    channelLimit: readWholeNumber(section, "channel_limit", channelLimit),
    connectIncludeServerTime: readBoolean(section, "connect_include_server_time"),
    personalChannel: readPersonalChannelSection(
      section.section("subscribe_to_user_personal_channel"),
    ),
    users: readUsersSection(section.section("users")),
    insecure: readInsecure(section, "lets every client do everything"),
    requireEdgeToken: readBoolean(section, "require_edge_token"),
    tokenCookie: readText(section, "token_cookie", cookieName),
    token: readTokenSection(section.section("token")),
    ...(subscriptionToken && { subscriptionToken }),
  };
  if (config.userConnectionLimit > 0 && !config.users.enabled)
    section.problem("user_connection_limit", "requires users.enabled");
  section.refuseOthers(unsupportedClientKeys);
  return config;
}

/**
 * The default is 0, which means no limit in Centrifugo. Here it means `limits.connectionsDefault`, because an object
 * without a limit would run out of memory.
 */
function readConnectionLimit(section: Section): number {
  const rule = { default: 0, min: 0, max: limits.connectionsMax };
  const limit = readWholeNumber(section, "connection_limit", rule);
  return limit === 0 ? limits.connectionsDefault : limit;
}

/** No answer can hold more publications than are kept. */
const publicationLimit = { default: 300, min: 1, max: limits.historySizeMax };

const channelLimit = {
  default: limits.channelLimitDefault,
  min: 1,
  max: limits.channelLimitMax,
};

/** The name of a cookie is a token of HTTP (RFC 6265 section 4.1.1). With an empty name, no cookie is read. */
const cookieName = {
  default: "",
  shape: /^[-!#$%&'*+.^_`|~0-9A-Za-z]*$/,
  meaning: "a cookie name",
};

/**
 * Reads `client.subscribe_to_user_personal_channel`: the channel to which the server subscribes each user
 * (docs/protocol.md 2.7).
 *
 * @param section receives the problems
 */
function readPersonalChannelSection(section: Section): PersonalChannelConfig {
  const config: PersonalChannelConfig = {
    enabled: readBoolean(section, "enabled"),
    namespace: readText(section, namespaceKey, { default: "" }),
    singleConnection: readBoolean(section, "single_connection"),
  };
  if (config.singleConnection && !config.enabled && section.isValid("enabled")) {
    section.problem("single_connection", "requires enabled");
  }
  section.refuseOthers({});
  return config;
}

/**
 * Reads `client.users`, Dormouse's own: whether users have homes, and whether these keep their status.
 *
 * @param section receives the problems
 */
function readUsersSection(section: Section): UsersConfig {
  const status = section.section("status");
  const config: UsersConfig = {
    enabled: readBoolean(section, "enabled", true),
    status: readBoolean(status, "enabled"),
  };
  if (config.status && !config.enabled) status.problem("enabled", "requires client.users.enabled");
  status.refuseOthers({});
  section.refuseOthers({});
  return config;
}

/**
 * Reports a personal channel in a namespace that doesn't exist, because then no user could connect.
 *
 * @param root the section of the whole configuration; receives the problem
 */
export function checkPersonalChannel({ client, channel }: Config, root: Section): void {
  const { namespace } = client.personalChannel;
  if (namespace === "" || channel.namespaces.has(namespace)) return;
  const key = `client.subscribe_to_user_personal_channel.${namespaceKey}`;
  root.wrongValue(key, namespace, "is not the name of a namespace");
}

const namespaceKey = "personal_channel_namespace";
