import type { KnownChannel } from "../channel/channel-name.ts";
import type { ChannelOptions } from "../config/config.ts";

/** The client that sends a command for a channel. */
export interface Caller {
  /** User ID; "" for anonymous. */
  readonly user: string;
  /** Whether it is subscribed to that channel. */
  readonly subscribed: boolean;
}

/**
 * Whether a user may subscribe to a channel without a subscription token (rule A5, docs/protocol.md 5.5, steps 2 to 7).
 */
export function maySubscribe(channel: KnownChannel, user: string): boolean {
  if (channel.private) return false;
  // A user-limited channel is for the users that it names and no others, whatever the namespace allows.
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

/** Whether a client may read presence, provided that the namespace has presence. */
export function maySeePresence(options: ChannelOptions, caller: Caller): boolean {
  return allowed(caller, {
    client: options.allowPresenceForClient,
    subscriber: options.allowPresenceForSubscriber,
    anonymous: options.allowPresenceForAnonymous,
  });
}

/** Whether a client may read the history, provided that the namespace has history. */
export function mayReadHistory(options: ChannelOptions, caller: Caller): boolean {
  return allowed(caller, {
    client: options.allowHistoryForClient,
    subscriber: options.allowHistoryForSubscriber,
    anonymous: options.allowHistoryForAnonymous,
  });
}

/** To whom the namespace allows a command. */
interface Allowed {
  readonly client: boolean;
  readonly subscriber: boolean;
  readonly anonymous: boolean;
}

function allowed(caller: Caller, open: Allowed): boolean {
  if (caller.user === "" && !open.anonymous) return false;
  return open.client || (open.subscriber && caller.subscribed);
}
