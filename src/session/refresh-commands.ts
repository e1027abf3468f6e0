import {
  type ConnectionClaims,
  type ConnectionVerdict,
  type SubscriptionVerdict,
  withoutSubscriptions,
} from "../access/claims.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { SubRefreshRequest } from "../protocol/command.ts";
import { fitsAttachment } from "../contract/attachment.ts";
import { hasEnded, ttlSeconds } from "./connect-command.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import type { SessionSnapshot, SubscriptionSnapshot } from "../contract/session-snapshot.ts";

/**
 * Decides on a connection's new token (reference 1.4, item 10).
 *
 * @param verdict what became of the token; absent when the command carried none
 * @param serverChannels which channels the server subscribes a connection with these claims to
 */
export function refresh(
  id: number,
  snapshot: SessionSnapshot,
  verdict: ConnectionVerdict | undefined,
  serverChannels: (claims: ConnectionClaims) => ReadonlySet<string>,
  nowMs: number,
): Decision {
  if (verdict === undefined) return disconnectWith(disconnectCodes.badRequest);
  switch (verdict.outcome) {
    case "unavailable":
      return failWith(errorCodes.internal);
    case "expired":
      return disconnectWith(disconnectCodes.connectionExpired);
    case "invalid":
      return disconnectWith(disconnectCodes.invalidToken);
    case "verified": {
      const { claims } = verdict;
      if (claims.user !== snapshot.claims?.user)
        return disconnectWith(disconnectCodes.invalidToken);
      if (hasEnded(claims.expireAtSeconds, nowMs)) {
        return disconnectWith(disconnectCodes.connectionExpired);
      }
      // The server's own subscriptions are made by connect alone: the client is to come back for the others.
      if (!sameChannels(serverChannels(claims), snapshot)) {
        return disconnectWith(disconnectCodes.insufficientState);
      }
      const kept = withoutSubscriptions(claims);
      if (!fitsAttachment(kept)) return failWith(errorCodes.limitExceeded);
      const result = { ttlSeconds: ttlSeconds(claims.expireAtSeconds, nowMs) };
      return {
        outcome: "reply",
        reply: { id, method: "refresh", result },
        changes: { claims: kept },
      };
    }
  }
}

function sameChannels(channels: ReadonlySet<string>, { subscriptions }: SessionSnapshot): boolean {
  const current = subscriptions.filter(({ serverSide }) => serverSide === true);
  return current.length === channels.size && current.every(({ channel }) => channels.has(channel));
}

/** What a subscription is after its token was renewed, or what else the command comes to. */
export type SubRefreshed =
  | {
      readonly outcome: "refreshed";
      readonly subscription: SubscriptionSnapshot;
      readonly decision: Decision;
    }
  | Decision;

/** Decides on a subscription's new token (reference 1.4, item 11). */
export function subRefresh(
  id: number,
  request: SubRefreshRequest,
  snapshot: SessionSnapshot,
  verdict: SubscriptionVerdict | undefined,
  nowMs: number,
): SubRefreshed {
  if (request.channel === "") return disconnectWith(disconnectCodes.badRequest);
  const subscription = snapshot.subscriptions.find(({ channel }) => channel === request.channel);
  if (subscription === undefined) return failWith(errorCodes.permissionDenied);
  if (verdict === undefined || request.type !== 0) return failWith(errorCodes.badRequest);
  switch (verdict.outcome) {
    case "unavailable":
      return failWith(errorCodes.internal);
    case "expired":
      return disconnectWith(disconnectCodes.subscriptionExpired);
    case "invalid":
      return disconnectWith(disconnectCodes.invalidToken);
    case "verified": {
      const { user, client, channel, expireAtSeconds, info } = verdict.claims;
      const bound = client === "" || client === snapshot.client;
      if (user !== snapshot.claims?.user || channel !== request.channel || !bound) {
        return disconnectWith(disconnectCodes.invalidToken);
      }
      if (hasEnded(expireAtSeconds, nowMs)) {
        return disconnectWith(disconnectCodes.subscriptionExpired);
      }
      const result = { ttlSeconds: ttlSeconds(expireAtSeconds, nowMs) };
      const { chanInfo: _, ...kept } = subscription;
      const shown = info === undefined ? {} : { chanInfo: info };
      return {
        outcome: "refreshed",
        subscription: { ...kept, ...shown, expireAtSeconds },
        decision: { outcome: "reply", reply: { id, method: "sub_refresh", result } },
      };
    }
  }
}
