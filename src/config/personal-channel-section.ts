import type { Config, PersonalChannelConfig } from "./config.ts";
import type { Section } from "./section.ts";
import { readBoolean, readText } from "./fields.ts";

/**
 * Reads `client.subscribe_to_user_personal_channel`: the channel that the server subscribes each user to (reference 2.7).
 *
 * @param section takes the problems
 */
export function readPersonalChannelSection(section: Section): PersonalChannelConfig {
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
