import type { ConnectionClaims, ServerSubscription } from "../access/claims.ts";
import { capabilitiesOf, grantServerSubscription, type Requester } from "./grant.ts";
import { maySubscribe } from "./may.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { ConnectRequest, FilterNode } from "../protocol/command.ts";
import { type Decision, disconnectWith, refuseWith, type Grant } from "./decision.ts";

import type { KnownChannel } from "../channel/channel-name.ts";
import type { Config } from "../config/config.ts";
import type { Channels } from "./channels.ts";
import { isDependent } from "./dependence/dependents.ts";
import type { SessionContext } from "./ports.ts";

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
    const known = channels.resolve(subscription.channel);
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

/**
 * Grants a unidirectional client's subscriptions, besides its server-side ones (rule C11). The client can't subscribe
 * later, so its connect request names the channels (docs/protocol.md 4.5), or its address names one. Channels to which
 * the client may not subscribe are left out. If the channel of its address is one of them, the client is disconnected,
 * because it would receive nothing.
 *
 * @param given   the client's server-side subscriptions
 * @param address the channel that the client's address names; undefined if it names none
 * @returns all subscriptions, the given ones first, or the decision on the connect
 */
export function grantUnidirectionalSubscriptions(
  request: ConnectRequest,
  claims: ConnectionClaims,
  requester: Requester,
  given: readonly GrantedChannel[],
  address: string | undefined,
  context: SessionContext,
): { readonly outcome: "granted"; readonly granted: readonly GrantedChannel[] } | Decision {
  const names = new Set(request.subscriptions.keys());
  if (address !== undefined) names.add(address);
  for (const { grant } of given) names.delete(grant.subscription.channel);
  const granted = [...given];
  for (const channel of names) {
    const known = context.channels.resolve(channel);
    if (known.outcome !== "resolved")
      return disconnectWith(disconnectCodes.badRequest, "C1", impossibleChannel);
    const named = claims.subscriptions?.find((one) => one.channel === channel);
    const own = { ...requester, ...capabilitiesOf(claims, channel) };
    const may = maySubscribe(known, own, context.config.channel);
    const isAllowed = may.allowed === true && !isDependent(context, channel);
    if (named === undefined && !isAllowed) {
      if (channel === address)
        return disconnectWith(disconnectCodes.permissionDenied, "A1", notOfAddress);
      continue;
    }
    const { autoCacheRecover } = known.options;
    const recoverable = autoCacheRecover || request.subscriptions.get(channel)?.recover === true;
    const grant = grantServerSubscription(named ?? { channel, override: {} }, known, own, {
      recoverable,
    });
    granted.push({ known, grant });
  }
  return { outcome: "granted", granted };
}

const impossibleChannel = "connect names a channel that doesn't exist";
const notOfAddress = "the client may not subscribe to the channel of its address";

/**
 * The subscription of a client that polls: it isn't present, and isn't announced (rule T9), because it connects for
 * each poll.
 */
export function hiddenFromOthers({ known, grant }: GrantedChannel): GrantedChannel {
  const { subscription } = grant;
  const unseen = { present: false, announced: false, sole: false, hidden: true } as const;
  const hidden = { ...subscription, ...unseen };
  return { known, grant: { ...grant, subscription: hidden } };
}
