/**
 * The ends of a connection and of its subscriptions (rules C5 and Q9): when they are due, and what happens then. What a
 * backend extends ends at its time, unless the backend is asked; what the client extends ends a while later.
 */
import type { HookTarget } from "../config/config.ts";
import type { SubscriptionSnapshot } from "../contract/session-snapshot.ts";
import { disconnectCodes, unsubscribeCodes } from "../protocol/codes.ts";
import { endMs } from "./liveness.ts";
import type { CommandSession } from "./ports.ts";
import type { ServerRefresh } from "./server-refresh.ts";

/**
 * When {@link endExpired} has something to do next, ms since 1970; Infinity for never.
 *
 * @param refresh undefined if nothing is being refreshed
 */
export function expiryDueAtMs(session: CommandSession, refresh: ServerRefresh | undefined): number {
  const subscriptionsMs = session.subscriptions.endMs((one) => delayMs(session, refresh, one));
  return Math.min(connectionEndMs(session, refresh), subscriptionsMs);
}

/**
 * Ends what has expired, or asks a backend about it.
 *
 * @param refresh undefined if nothing is being refreshed
 * @param start   gives the session's `refresh`, made anew if it is undefined
 * @returns whether the connection has ended
 */
export function endExpired(
  session: CommandSession,
  refresh: ServerRefresh | undefined,
  start: () => ServerRefresh,
  nowMs: number,
): boolean {
  if (nowMs < expiryDueAtMs(session, refresh)) return false;
  if (nowMs >= connectionEndMs(session, refresh)) {
    const target = session.context.config.hooks.refresh;
    if (target === undefined) {
      session.disconnect(disconnectCodes.connectionExpired);
      return true;
    }
    start().connection(target, nowMs);
  }
  for (const one of session.subscriptions.begunSnapshots) {
    if (session.closed) return true;
    const { channel, expireAtSeconds, serverSide } = one;
    if (nowMs < endMs(expireAtSeconds, delayMs(session, refresh, one))) continue;
    const target = hookOf(session, one);
    if (target !== undefined) start().subscription(one, target, nowMs);
    // A client can't renew a subscription of the server's (docs/protocol.md 2.8).
    else if (serverSide === true) session.disconnect(disconnectCodes.subscriptionExpired);
    else session.unsubscribe(channel, unsubscribeCodes.subscriptionExpired);
  }
  return session.closed;
}

/** Infinity while a backend is asked. */
function connectionEndMs(
  { context, identity }: CommandSession,
  refresh: ServerRefresh | undefined,
): number {
  const { hooks, client } = context.config;
  const expireAtSeconds = identity.claims?.expireAtSeconds;
  if (hooks.refresh === undefined) return endMs(expireAtSeconds, client.expiredCloseDelayMs);
  return refresh?.isUnderWay("") === true ? Number.POSITIVE_INFINITY : endMs(expireAtSeconds, 0);
}

/** How long after it has expired a subscription ends; Infinity while a backend is asked. */
function delayMs(
  session: CommandSession,
  refresh: ServerRefresh | undefined,
  granted: SubscriptionSnapshot,
): number {
  if (refresh?.isUnderWay(granted.channel) === true) return Number.POSITIVE_INFINITY;
  const { expiredSubCloseDelayMs } = session.context.config.client;
  return hookOf(session, granted) === undefined ? expiredSubCloseDelayMs : 0;
}

/** The backend that extends a subscription; undefined if the client has to. */
function hookOf(
  { context }: CommandSession,
  { channel, serverRefresh }: SubscriptionSnapshot,
): HookTarget | undefined {
  if (serverRefresh !== true) return undefined;
  const known = context.channels.find(channel);
  return known.outcome === "resolved" ? known.options.subRefreshHook : undefined;
}
