import type { ConnectionClaims } from "../access/claims.ts";
import { capabilitiesOf, grantServerSubscription, maySubscribe, type Requester } from "./grant.ts";
import {
  type DisconnectCode,
  disconnectCodes,
  type ErrorCode,
  errorCodes,
  lostCode,
} from "../protocol/codes.ts";
import type { Codec, Message } from "../protocol/codec.ts";
import type { ConnectRequest } from "../protocol/command.ts";
import type { Channels } from "./channels.ts";
import type { CommandSession } from "./ports.ts";
import { type Decision, disconnectWith } from "./decision.ts";
import type { GrantedChannel } from "./server-subscriptions.ts";

/**
 * Grants a unidirectional client's subscriptions, besides its server-side ones (rule C11). It can't subscribe later, so
 * its connect request names the channels (docs/protocol.md 4.5), or its address names one. Channels that it may not
 * subscribe to are left out. But if that is the channel of its address, the client would get nothing, so it is
 * disconnected.
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
  channels: Channels,
): { readonly outcome: "granted"; readonly granted: readonly GrantedChannel[] } | Decision {
  const names = new Set(request.subscriptions.keys());
  if (address !== undefined) names.add(address);
  for (const { grant } of given) names.delete(grant.subscription.channel);
  const granted = [...given];
  for (const channel of names) {
    const known = channels.find(channel);
    if (known.outcome !== "resolved")
      return disconnectWith(disconnectCodes.badRequest, "C1", noSuchChannel);
    const named = claims.subscriptions?.find((one) => one.channel === channel);
    const own = { ...requester, ...capabilitiesOf(claims, channel, known, true) };
    if (named === undefined && !maySubscribe(known, own)) {
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

const noSuchChannel = "connect names a channel that can't exist";
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

/** Whether the client is a unidirectional one on a WebSocket of its own, neither on a stream nor polling. */
export function isUnidirectionalSocket({
  unidirectional,
  identity: { secret, passing },
}: SocketSession): boolean {
  return unidirectional && secret === undefined && passing !== true;
}

type SocketSession = Pick<CommandSession, "unidirectional" | "identity" | "codec">;

/** The text by which an order names the session beside its ID; undefined if it can't (rule U2). */
export function secretOf(session: SocketSession): string | undefined {
  const { secret, client } = session.identity;
  // The ID of an anonymous client ends with its object, which is cut off from the session that an order names, too.
  return secret ?? (isUnidirectionalSocket(session) ? client.split("@", 1)[0] : undefined);
}

/** The push that comes before the close of such a WebSocket (rule T10); undefined for none. */
export function disconnectPush(session: SocketSession, code: DisconnectCode): Message | undefined {
  return isUnidirectionalSocket(session) ? pushBeforeClose(session.codec, code) : undefined;
}

/** The same, for a client that is known to be a unidirectional one on a WebSocket. */
export function pushBeforeClose(codec: Codec, code: DisconnectCode): Message | undefined {
  return code.code === lostCode ? undefined : codec.encodePush({ type: "disconnect", code });
}

/** The disconnect code that stands for an error, which a unidirectional client can't be sent (docs/protocol.md 4.5). */
export function unidirectionalDisconnect(error: ErrorCode): DisconnectCode {
  // By number: an error that came from a channel's object is a copy.
  switch (error.code) {
    case errorCodes.tokenExpired.code:
    case errorCodes.expired.code:
      return disconnectCodes.connectionExpired;
    case errorCodes.tooManyRequests.code:
      return disconnectCodes.tooManyRequests;
    case errorCodes.permissionDenied.code:
      return disconnectCodes.permissionDenied;
    default:
      return disconnectCodes.internalServerError;
  }
}
