import type { ClientConfig, Config } from "./config.ts";
import { connectionOptions, sessionOptions } from "./client-options.ts";
import { readOptions } from "./fields.ts";
import { readRateLimits } from "./rate-limit.ts";
import type { Section } from "./section.ts";
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
    ...readOptions(section, connectionOptions),
    ...readRateLimits(section.section("rate_limit")),
    ...readOptions(section, sessionOptions),
    token: readTokenSection(section.section("token")),
    ...(subscriptionToken && { subscriptionToken }),
  };
  if (config.userConnectionLimit > 0 && !config.users.enabled)
    section.problem("user_connection_limit", "requires users.enabled");
  section.refuseOthers(unsupportedClientKeys);
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
  const key = "client.subscribe_to_user_personal_channel.personal_channel_namespace";
  root.wrongValue(key, namespace, "is not the name of a namespace");
}
