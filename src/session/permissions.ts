import type { KnownChannel } from "../channel/channel-name.ts";
import type { ChannelOptions } from "../config/config.ts";

/** Who asks: a user ID, "" for anonymous, and whether it is subscribed to the channel it asks about. */
export interface Caller {
  readonly user: string;
  readonly subscribed: boolean;
}

/** Without a subscription token: whether the channel is open to this user (docs/protocol.md 5.5, steps 2 to 7). */
export function maySubscribe(channel: KnownChannel, user: string): boolean {
  if (channel.private) return false;
  // A user-limited channel is for those it names and for nobody else, whatever the namespace opens.
  if (channel.users !== undefined) return user !== "" && channel.users.includes(user);
  const { allowSubscribeForClient, allowSubscribeForAnonymous } = channel.options;
  return allowSubscribeForClient && (user !== "" || allowSubscribeForAnonymous);
}

/** Whether a client may publish to the channel. */
export function mayPublish(options: ChannelOptions, caller: Caller): boolean {
  return allowed(caller, {
    client: options.allowPublishForClient,
    subscriber: options.allowPublishForSubscriber,
    anonymous: options.allowPublishForAnonymous,
  });
}

/** Whether a client may see who is present. That the namespace keeps presence at all is another question. */
export function maySeePresence(options: ChannelOptions, caller: Caller): boolean {
  return allowed(caller, {
    client: options.allowPresenceForClient,
    subscriber: options.allowPresenceForSubscriber,
    anonymous: options.allowPresenceForAnonymous,
  });
}

/** Whether a client may read the history. That the namespace keeps one at all is another question. */
export function mayReadHistory(options: ChannelOptions, caller: Caller): boolean {
  return allowed(caller, {
    client: options.allowHistoryForClient,
    subscriber: options.allowHistoryForSubscriber,
    anonymous: options.allowHistoryForAnonymous,
  });
}

interface Openings {
  readonly client: boolean;
  readonly subscriber: boolean;
  readonly anonymous: boolean;
}

function allowed(caller: Caller, open: Openings): boolean {
  if (caller.user === "" && !open.anonymous) return false;
  return open.client || (open.subscriber && caller.subscribed);
}
