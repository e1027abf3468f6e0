import { limits } from "../limits.ts";
import type { ClientConfig, Config, PersonalChannelConfig } from "./config.ts";
import type { Section } from "./section.ts";
import { readBoolean, readDurationMs, readText, readTexts, readWholeNumber } from "./fields.ts";
import { readSubscriptionTokenSection, readTokenSection } from "./tokens.ts";
import { unsupportedClientKeys } from "./unsupported.ts";

/**
 * Reads `client`: how connections are let in and kept (docs/protocol.md 5.7).
 *
 * @param section takes the problems
 */
export function readClientSection(section: Section): ClientConfig {
  const subscriptionToken = readSubscriptionTokenSection(section.section("subscription_token"));
  const config: ClientConfig = {
    allowedOrigins: readTexts(section, "allowed_origins", originPattern),
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
      // Less could not take one large frame.
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
    connectionRateLimit: readWholeNumber(section, "connection_rate_limit", { default: 0, min: 0 }),
    channelLimit: readWholeNumber(section, "channel_limit", channelLimit),
    connectIncludeServerTime: readBoolean(section, "connect_include_server_time"),
    personalChannel: readPersonalChannelSection(
      section.section("subscribe_to_user_personal_channel"),
    ),
    requireEdgeToken: readBoolean(section, "require_edge_token"),
    tokenCookie: readText(section, "token_cookie", cookieName),
    token: readTokenSection(section.section("token")),
    ...(subscriptionToken === undefined ? {} : { subscriptionToken }),
  };
  section.refuseOthers(unsupportedClientKeys);
  return config;
}

/** 0, with which Centrifugo sets no limit, is the default here: an object without one would run out of memory. */
function readConnectionLimit(section: Section): number {
  const rule = { default: 0, min: 0, max: limits.connectionsMax };
  const limit = readWholeNumber(section, "connection_limit", rule);
  return limit === 0 ? limits.connectionsDefault : limit;
}

/** No answer can hold more than is kept. */
const publicationLimit = { default: 300, min: 1, max: limits.historySizeMax };

const channelLimit = {
  default: limits.channelLimitDefault,
  min: 1,
  max: limits.channelLimitMax,
};

const originPattern = {
  shape: /^\*$|:\/\//,
  meaning: '"*" or an origin such as "https://example.com"',
};

/** RFC 6265 section 4.1.1: a cookie's name is a token of HTTP. Empty means that no cookie is looked at. */
const cookieName = {
  default: "",
  shape: /^[-!#$%&'*+.^_`|~0-9A-Za-z]*$/,
  meaning: "a cookie name",
};

/**
 * Reads `client.subscribe_to_user_personal_channel`: the channel that the server subscribes each user to (docs/protocol.md 2.7).
 *
 * @param section takes the problems
 */
function readPersonalChannelSection(section: Section): PersonalChannelConfig {
  const config: PersonalChannelConfig = {
    enabled: readBoolean(section, "enabled"),
    namespace: readText(section, namespaceKey, { default: "" }),
    singleConnection: readBoolean(section, "single_connection"),
  };
  if (config.singleConnection && !config.enabled && section.isSound("enabled")) {
    section.problem("single_connection", "needs enabled");
  }
  section.refuseOthers({});
  return config;
}

/**
 * Reports a personal channel in a namespace that doesn't exist: nobody with a user could connect.
 *
 * @param root the section of the whole configuration; takes the problem
 */
export function checkPersonalChannel({ client, channel }: Config, root: Section): void {
  const { namespace } = client.personalChannel;
  if (namespace === "" || channel.namespaces.has(namespace)) return;
  const key = `client.subscribe_to_user_personal_channel.${namespaceKey}`;
  root.wrongValue(key, namespace, "is not the name of a namespace");
}

const namespaceKey = "personal_channel_namespace";
