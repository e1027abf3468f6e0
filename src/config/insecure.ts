import type { ChannelOptions, Config } from "./config.ts";

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
