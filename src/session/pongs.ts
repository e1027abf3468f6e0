import type { ChannelOptions } from "../config/config.ts";
import type { CommandSession } from "./ports.ts";

/**
 * Whether a client is asked to answer the server's pings, so that it is found if it disappears (rules K2, K6 and K7). It is
 * asked when it connects, after its server-side subscriptions have been made, and never again.
 */
export function asksForPongs(session: CommandSession): boolean {
  if (!sendsPongs(session)) return false;
  switch (session.context.config.client.pong) {
    case "always":
      return true;
    case "never":
      return false;
    case "auto":
      return mayBeSeen(session);
  }
}

/**
 * Whether a client sends pongs if it is asked to. One that pings must send none, and a unidirectional one can't. On a
 * stream the edge pings the client.
 */
export function sendsPongs({ identity, unidirectional }: CommandSession): boolean {
  return (identity.keepalive === "server" || identity.awaitingPong === true) && !unidirectional;
}

/**
 * Whether others may see that the client is there: its user's connections are limited or a backend is told that the user is
 * online, it is present or announced on a channel, or may come to be by the options of a channel to which it can subscribe. The grants of later subscription tokens can't be known here.
 */
function mayBeSeen({ context, subscriptions }: CommandSession): boolean {
  const { channels, channel, config } = context;
  const isSeen = subscriptions.all.some(({ granted }) => granted.present || granted.announced);
  const { client, events } = config;
  const isCounted = client.userConnectionLimit > 0 || events?.types.has("user_online") === true;
  if (isSeen || isCounted) return true;
  if (channel !== undefined) {
    const known = channels.find(channel);
    return known.outcome === "resolved" && showsSubscribers(known.options);
  }
  const { withoutNamespace, namespaces } = config.channel;
  if (showsSubscribers(withoutNamespace)) return true;
  for (const options of namespaces.values()) if (showsSubscribers(options)) return true;
  return false;
}

function showsSubscribers({ presence, joinLeave, presenceMaps }: ChannelOptions): boolean {
  return presence || joinLeave || presenceMaps !== undefined;
}
