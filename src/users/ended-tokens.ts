/** Ends what was made with tokens that a backend has revoked or made invalid (rules U10 and U11). */
import type { Invalidation } from "../contract/user-order.ts";
import { hasPassed } from "../moment.ts";
import { disconnectCodes, unsubscribeCodes } from "../protocol/codes.ts";
import type { CommandSession } from "../session/ports.ts";

/**
 * Ends what was made with tokens that an invalidation concerns: the connection, or subscriptions (rule U11).
 *
 * @param end ends the connection
 */
export function endInvalid(
  session: CommandSession,
  invalidation: Invalidation,
  nowMs: number,
  end = () => session.disconnect(disconnectCodes.invalidToken),
): void {
  if (hasPassed(invalidation.expireAtSeconds, nowMs)) return;
  const { claims, byHook } = session.identity;
  const isByToken = claims !== undefined && byHook !== true;
  if (isByToken && concerns(invalidation, claims.issuedAtSeconds, undefined)) {
    end();
    return;
  }
  for (const { granted } of session.subscriptions.all) {
    const { channel, issuedAtSeconds } = granted;
    if (issuedAtSeconds !== undefined && concerns(invalidation, issuedAtSeconds, channel))
      session.unsubscribe(channel, unsubscribeCodes.server);
  }
}

/** Ends what was made with a revoked token: the connection, or subscriptions (rule U10). */
export function endRevoked(session: CommandSession, uid: string): void {
  if (session.closed) return;
  if (session.identity.claims?.uid === uid) {
    session.disconnect(disconnectCodes.invalidToken);
    return;
  }
  for (const { granted } of session.subscriptions.all)
    if (granted.uid === uid) session.unsubscribe(granted.channel, unsubscribeCodes.server);
}

/** Whether the connection or one of its subscriptions, pending ones included, was made with a token. */
export function usesToken(
  { closed, identity, subscriptions }: CommandSession,
  uid: string,
): boolean {
  const isByToken = identity.claims?.uid === uid;
  return !closed && (isByToken || subscriptions.all.some(({ granted }) => granted.uid === uid));
}

/** The tokens with which the connection and its subscriptions, pending ones included, were made. */
export function tokensOf({ closed, identity, subscriptions }: CommandSession): readonly string[] {
  if (closed) return [];
  const uids = [identity.claims?.uid, ...subscriptions.all.map(({ granted }) => granted.uid)];
  return uids.filter((uid) => uid !== undefined);
}

/**
 * Whether an invalidation is about a token.
 *
 * @param channel of a subscription token; undefined for a connection token
 */
export function concerns(
  { channel: only, issuedBeforeSeconds }: Invalidation,
  issuedAtSeconds: number | undefined,
  channel: string | undefined,
): boolean {
  return (only === "" || only === channel) && (issuedAtSeconds ?? 0) < issuedBeforeSeconds;
}
