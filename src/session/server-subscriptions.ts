import type { ConnectionClaims, ServerSubscription } from "../access/claims.ts";
import type { KnownChannel } from "../channel/channel-name.ts";
import type { Config } from "../config/config.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { FilterNode } from "../protocol/command.ts";
import type { Channels } from "./channels.ts";
import { type Decision, disconnectWith, refuseWith } from "./decision.ts";
import { type Requester, grantServerSubscription } from "./grant.ts";
import type { Grant } from "./decision.ts";

/**
 * Grants a connection's server-side subscriptions: those that its token names, and the user's personal channel (rule
 * C9, docs/protocol.md 2.7).
 *
 * @returns the grants, or the decision on the connect if one of the channels can't be subscribed to
 */
export function grantServerSubscriptions(
  claims: ConnectionClaims,
  requester: Requester,
  config: Config,
  channels: Channels,
): { readonly outcome: "granted"; readonly granted: readonly GrantedChannel[] } | Decision {
  const wanted = serverSubscriptions(claims, config);
  if (wanted.length > config.client.channelLimit) return overChannelLimit;
  const personal = personalChannel(claims.user, config);
  const { personalChannel: own, users } = config.client;
  // Where users have homes, these see to it, for all connections (rule C10).
  const isSole = own.singleConnection && !users.enabled;
  const granted: GrantedChannel[] = [];
  for (const subscription of wanted) {
    const known = channels.find(subscription.channel);
    if (known.outcome === "unknown-namespace")
      return refuseWith(errorCodes.unknownChannel, "C9", noSuchChannel);
    if (known.outcome === "bad-name") return refuseWith(errorCodes.badRequest, "C9", noSuchChannel);
    const grant = grantServerSubscription(subscription, known, requester);
    const exclusive = isSole && subscription.channel === personal;
    granted.push({
      known,
      grant: exclusive ? { ...grant, subscription: { ...grant.subscription, sole: true } } : grant,
    });
  }
  return { outcome: "granted", granted };
}

const noSuchChannel = "the token names a channel that doesn't exist";

/** The decision on a connect that comes with too many subscriptions. */
export const overChannelLimit = disconnectWith(
  disconnectCodes.channelLimit,
  "G1",
  "more subscriptions than client.channel_limit",
);

/** A subscription that the server is about to make for a connection, with its channel. */
export interface GrantedChannel {
  readonly known: KnownChannel;
  readonly grant: Grant;
}

/** The channels that {@link grantServerSubscriptions} grants, each with its {@link filterText}. */
export function serverChannels(claims: ConnectionClaims, config: Config): ServerChannels {
  return new Map(serverSubscriptions(claims, config).map((one) => [one.channel, filterText(one)]));
}

export type ServerChannels = ReadonlyMap<string, string>;

/** The server's tags filter as text, the same for the same filter; "" if there is none. */
export function filterText({ serverFilter }: { readonly serverFilter?: FilterNode }): string {
  return serverFilter === undefined ? "" : JSON.stringify(serverFilter);
}

function serverSubscriptions(
  { user, subscriptions = [] }: ConnectionClaims,
  config: Config,
): readonly ServerSubscription[] {
  const personal = personalChannel(user, config);
  if (personal === undefined || subscriptions.some(({ channel }) => channel === personal)) {
    return subscriptions;
  }
  return [...subscriptions, { channel: personal, override: {} }];
}

/** The name of a user's personal channel; undefined if there is none. Anonymous users have none. */
export function personalChannel(user: string, { client, channel }: Config): string | undefined {
  const { enabled, namespace } = client.personalChannel;
  if (!enabled || user === "") return undefined;
  const { namespaceBoundary, userBoundary } = channel;
  return `${namespace === "" ? "" : namespace + namespaceBoundary}${userBoundary}${user}`;
}
