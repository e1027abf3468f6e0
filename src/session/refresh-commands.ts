import type { ConnectionVerdict, SubscriptionVerdict } from "../access/claims.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { SubRefreshRequest } from "../protocol/command.ts";
import { fitsSnapshot, hasEnded, ttlSeconds } from "./connect-command.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import type { SessionSnapshot } from "./snapshot.ts";

/**
 * Decides on a connection's new token (reference 1.4, item 10).
 *
 * @param verdict what became of the token; absent when the command carried none
 */
export function refresh(
  id: number,
  snapshot: SessionSnapshot,
  verdict: ConnectionVerdict | undefined,
  nowMs: number,
): Decision {
  if (verdict === undefined) return disconnectWith(disconnectCodes.badRequest);
  switch (verdict.outcome) {
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
      const refreshed: SessionSnapshot = { ...snapshot, claims };
      if (!fitsSnapshot(refreshed)) return failWith(errorCodes.limitExceeded);
      const result = { ttlSeconds: ttlSeconds(claims.expireAtSeconds, nowMs) };
      return { outcome: "reply", reply: { id, method: "refresh", result }, snapshot: refreshed };
    }
  }
}

/** Decides on a subscription's new token (reference 1.4, item 11). */
export function subRefresh(
  id: number,
  request: SubRefreshRequest,
  snapshot: SessionSnapshot,
  verdict: SubscriptionVerdict | undefined,
  nowMs: number,
): Decision {
  if (request.channel === "") return disconnectWith(disconnectCodes.badRequest);
  const { subscription } = snapshot;
  if (subscription === undefined || subscription.channel !== request.channel) {
    return failWith(errorCodes.permissionDenied);
  }
  if (verdict === undefined || request.type !== 0) return failWith(errorCodes.badRequest);
  switch (verdict.outcome) {
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
      const refreshed: SessionSnapshot = {
        ...snapshot,
        subscription: { ...kept, ...shown, expireAtSeconds },
      };
      if (!fitsSnapshot(refreshed)) return failWith(errorCodes.limitExceeded);
      return {
        outcome: "reply",
        reply: { id, method: "sub_refresh", result },
        snapshot: refreshed,
      };
    }
  }
}
