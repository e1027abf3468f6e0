import type { ConnectionClaims } from "../access/claims.ts";
import { maySubscribe } from "./permissions.ts";
import {
  type DisconnectCode,
  disconnectCodes,
  type ErrorCode,
  errorCodes,
} from "../protocol/codes.ts";
import type { ConnectRequest } from "../protocol/command.ts";
import type { Channels } from "./ports.ts";
import { type Decision, disconnectWith } from "./decision.ts";
import { type Requester, grantServerSubscription } from "./grant.ts";
import type { GrantedChannel } from "./server-subscriptions.ts";

/**
 * Which channels somebody gets who only listens, besides those that the server gives it anyway: it can't subscribe later, so
 * its connect names them (docs/protocol.md 4.5), or its address does. What it may not have is left out; without the channel that
 * its address names it would listen to nothing, and is told so.
 *
 * @param given   the channels that it gets anyway
 * @param address the channel that its address names
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
    if (known.outcome !== "resolved") return disconnectWith(disconnectCodes.badRequest);
    const named = claims.subscriptions?.find((one) => one.channel === channel);
    if (named === undefined && !maySubscribe(known, requester.user)) {
      if (channel === address) return disconnectWith(disconnectCodes.permissionDenied);
      continue;
    }
    const { autoCacheRecover } = known.options;
    const recoverable = autoCacheRecover || request.subscriptions.get(channel)?.recover === true;
    const grant = grantServerSubscription(named ?? { channel, override: {} }, known, requester, {
      recoverable,
    });
    granted.push({ known, grant });
  }
  return { outcome: "granted", granted };
}

/** The same for somebody who comes again and again: others would hear of nothing else. */
export function hiddenFromOthers({ known, grant }: GrantedChannel): GrantedChannel {
  const { subscription } = grant;
  const hidden = { ...subscription, present: false, announced: false, sole: false };
  return { known, grant: { ...grant, subscription: hidden } };
}

/** What an error comes to for somebody who can't be answered (docs/protocol.md 4.5). */
export function unidirectionalDisconnect(error: ErrorCode): DisconnectCode {
  // One that a channel's object gave to a gateway isn't the same object any more.
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
