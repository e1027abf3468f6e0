import type { ChannelOptions, Config } from "./config.ts";
import { readBoolean } from "./fields.ts";
import type { Section } from "./section.ts";

/**
 * Reads the key `insecure` of a section, which exists for development only (rule A11).
 *
 * @param section receives the problem, or a note
 * @param effect what the key does, as a sentence without its subject
 */
export function readInsecure(section: Section, effect: string): boolean {
  const insecure = readBoolean(section, "insecure");
  if (insecure) section.developmentOnly("insecure", effect);
  return insecure;
}

/**
 * The configuration with `client.insecure`: clients may connect without a token, and do everything except subscribe to a
 * private channel without a token (rule A11, docs/protocol.md 5.3). Features that are off stay off.
 *
 * @param openedByFeatures opens the options that features add
 */
export function opened(config: Config, openedByFeatures: OpenedOptions): Config {
  const { client, channel } = config;
  const open = (options: ChannelOptions): ChannelOptions => ({
    ...openedOptions(options),
    ...openedByFeatures(options),
  });
  return {
    ...config,
    client: { ...client, allowAnonymousConnectWithoutToken: true },
    channel: {
      ...channel,
      withoutNamespace: open(channel.withoutNamespace),
      namespaces: new Map([...channel.namespaces].map(([name, options]) => [name, open(options)])),
    },
  };
}

type OpenedOptions = (options: ChannelOptions) => Partial<ChannelOptions>;

function openedOptions(options: ChannelOptions): ChannelOptions {
  return {
    ...options,
    allowSubscribeForClient: true,
    allowSubscribeForAnonymous: true,
    allowPublishForClient: true,
    allowPublishForAnonymous: true,
    allowPresenceForClient: true,
    allowPresenceForAnonymous: true,
    allowHistoryForClient: true,
    allowHistoryForAnonymous: true,
    // Without it, no channel is limited to users.
    allowUserLimitedChannels: false,
    limitedChannelsForSubscribersOnly: false,
  };
}
