/**
 * The deadlines of a session: those of keep-alive, and the ends of credentials (rules K1 to K5, C5 and Q9). The
 * functions of keep-alive decide, and the session acts. They also decide which clients are asked for pongs.
 *
 * Server-driven: the server sends a ping each interval. All sockets of an object share one tick: when a ping is due,
 * each client whose last ping is more than half an interval old is pinged as well. So one alarm serves all sockets.
 *
 * Client-driven: the client sends the pings. In both cases the platform answers a JSON client's text without waking the
 * object (rule K3), and the object reads the time of the last answer.
 */
import { type ChannelOptions, everyOptions, type HookTarget } from "../config/config.ts";
import { limits } from "../limits.ts";
import { disconnectCodes, unsubscribeCodes } from "../protocol/codes.ts";
import { type Decision, disconnectWith, silent } from "./decision.ts";
import type { CommandSession } from "./ports.ts";
import { pongText } from "../contract/keepalive.ts";
import type { SessionIdentity, SubscriptionSnapshot } from "../contract/session-snapshot.ts";
import { dueMoment } from "../moment.ts";

/** When this session's next ping is due, ms since 1970; Infinity for never. */
export function pingDueAtMs(session: SessionIdentity, intervalMs: number, nowMs: number): number {
  if (session.phase !== "connected" || session.keepalive === "client")
    return Number.POSITIVE_INFINITY;
  return dueMoment((session.pingedAtMs ?? session.openedAtMs) + intervalMs, intervalMs, nowMs);
}

/**
 * The next action that keep-alive demands of a session. no-pong: a server-driven client didn't answer the last ping. gone: a
 * client-driven client has been silent. unknown: since when it has been silent is unknown, and is counted from now on.
 */
export type Heartbeat = "nothing" | "ping" | "no-pong" | "gone" | "unknown";

/**
 * Decides what keep-alive demands now.
 *
 * @param tick      whether some session of the object is due for a ping
 * @param heardAtMs when the client last showed that it is there, ms since 1970; undefined for never. Server-driven: when
 *                  the platform last answered it. Client-driven: when it last sent something
 */
export function heartbeat(
  session: SessionIdentity,
  intervalMs: number,
  tick: boolean,
  heardAtMs: number | undefined,
  nowMs: number,
): Heartbeat {
  if (session.phase !== "connected") return "nothing";
  const { pingedAtMs = 0 } = session;
  // What lies further ahead than this was noted before the clock was set back, and says nothing (rule S5).
  const reachMs = nowMs + intervalMs;
  if (session.keepalive === "client") {
    const noted = [0, heardAtMs ?? 0, pingedAtMs, session.openedAtMs].filter((ms) => ms <= reachMs);
    const heardMs = Math.max(...noted);
    if (heardMs === 0) return "unknown";
    const silentMs = nowMs - heardMs;
    return silentMs > 2 * intervalMs + graceMs ? "gone" : "nothing";
  }
  const sinceMs = Math.abs(nowMs - (session.pingedAtMs ?? session.openedAtMs));
  if (!tick || sinceMs < intervalMs / 2) return "nothing";
  const heardMs = heardAtMs !== undefined && heardAtMs <= reachMs ? heardAtMs : 0;
  // The clock may have been set back between the ping and the answer.
  const answeredFromMs = pingedAtMs - Math.min(clockStepMsMax, intervalMs / 2);
  const isAnswered =
    session.awaitingPong !== true || pingedAtMs > nowMs || heardMs >= answeredFromMs;
  if (isAnswered) return "ping";
  return sinceMs >= Math.min(pongTimeoutMs, intervalMs) ? "no-pong" : "nothing";
}

/**
 * Decides on a client's pong that the platform didn't answer: one in a binary format, in a frame with other commands, or
 * posted. The edge, which sends the pings of a stream, knows whether a posted one answers a ping (rule K7).
 */
export function pong(session: CommandSession, nowMs: number): Decision {
  const { awaitingPong, keepalive, noPongs } = session.identity;
  // Unsolicited pongs would make a dead connection look alive (docs/protocol.md 1.4, item 7).
  if (awaitingPong !== true || noPongs === true)
    return disconnectWith(disconnectCodes.badRequest, "K8", "no pong was asked for");
  if (keepalive === "server") return { outcome: "silent", changes: { awaitingPong: false } };
  const { deliveries } = session.context;
  // Before the text: the edge sends its next ping after that, and so after everything that was sent before.
  deliveries?.answered(session, nowMs);
  session.send(pongText);
  return deliveries === undefined ? silent : { outcome: "silent", changes: { pingedAtMs: nowMs } };
}

/**
 * When a client has answered the last ping of the object's own, at the latest, ms since 1970; undefined if it isn't known to
 * have. Pings of an edge don't count.
 *
 * @param answeredAtMs when the platform last answered the client, ms since 1970; undefined for never
 */
export function pingAnsweredMs(
  { keepalive, awaitingPong, pingedAtMs, noPongs }: SessionIdentity,
  answeredAtMs: number | undefined,
  nowMs: number,
): number | undefined {
  if (keepalive === "client" || noPongs === true || pingedAtMs === undefined) return undefined;
  if (awaitingPong === false) return nowMs;
  const answeredMs = answeredAtMs ?? 0;
  return answeredMs >= pingedAtMs && answeredMs <= nowMs ? answeredMs : undefined;
}

/**
 * A step back of the clock that closes no connection. A client that answered the ping before so late, and disappeared, is
 * found a ping later.
 */
const clockStepMsMax = 2_000;
/** Centrifugo's `pong_timeout`; a shorter ping interval leaves less. */
const pongTimeoutMs = 8_000;
/** A client may miss one of its own pings, and its network may delay the next one. */
const graceMs = 10_000;

/**
 * The `ttl` of a reply: whole seconds until a credential expires. It is 0 only for a credential that never expires, as
 * clients read 0, and otherwise from 1 to `limits.ttlSecondsMax` (rule C12).
 */
export function ttlSeconds(expireAtSeconds: number, nowMs: number): number {
  if (expireAtSeconds === 0) return 0;
  return boundedTtlSeconds(Math.floor(expireAtSeconds - nowMs / 1_000));
}

/** The `ttl` that a client receives for a number of seconds that are left, or have passed (rule C12). */
export function boundedTtlSeconds(leftSeconds: number): number {
  return Math.min(Math.max(1, leftSeconds), limits.ttlSecondsMax);
}

/** When a session has to have connected, ms since 1970. */
export function staleAtMs({ context, identity }: CommandSession, nowMs: number): number {
  const { staleCloseDelayMs } = context.config.client;
  return dueMoment(identity.openedAtMs + staleCloseDelayMs, staleCloseDelayMs, nowMs);
}

/** When a credential has been expired for `delayMs`, ms since 1970; Infinity if it never expires. */
function endMs(expireAtSeconds: number | undefined, delayMs: number): number {
  if (expireAtSeconds === undefined || expireAtSeconds === 0) return Number.POSITIVE_INFINITY;
  return expireAtSeconds * 1000 + delayMs;
}

/** When {@link endExpired} has something to do next, ms since 1970; Infinity for never. */
export function expiryDueAtMs(session: CommandSession): number {
  const subscriptionsMs = session.subscriptions.endMs((one) => endDelayMs(session, one));
  return Math.min(connectionEndMs(session), subscriptionsMs);
}

/**
 * Ends what has expired, or asks a backend about it: what a backend extends ends at its time, what the client extends a
 * while later. Also ends a connection that takes too long to synchronise with a map (rule Z17).
 *
 * @returns whether the connection has ended
 */
export function endExpired(session: CommandSession, nowMs: number): boolean {
  const { approver, config } = session.context;
  if (session.subscriptions.hasOverdueFlow(nowMs)) session.disconnect(disconnectCodes.slow);
  if (session.closed) return true;
  if (nowMs < expiryDueAtMs(session)) return false;
  if (nowMs >= connectionEndMs(session)) {
    const target = config.hooks.refresh;
    if (target === undefined) {
      session.disconnect(disconnectCodes.connectionExpired);
      return true;
    }
    approver?.refresh.extend(session, target, undefined, nowMs);
  }
  for (const one of session.subscriptions.begunSnapshots) {
    if (session.closed) return true;
    const { channel, expireAtSeconds, serverSide } = one;
    if (nowMs < endMs(expireAtSeconds, endDelayMs(session, one))) continue;
    const target = hookOf(session, one);
    if (target !== undefined) approver?.refresh.extend(session, target, one, nowMs);
    // A client can't renew a subscription of the server's (docs/protocol.md 2.8).
    else if (serverSide === true) session.disconnect(disconnectCodes.subscriptionExpired);
    else session.unsubscribe(channel, unsubscribeCodes.subscriptionExpired);
  }
  return session.closed;
}

/** Infinity while a backend is asked. */
function connectionEndMs(session: CommandSession): number {
  const { hooks, client } = session.context.config;
  const expireAtSeconds = session.identity.claims?.expireAtSeconds;
  if (hooks.refresh === undefined) return endMs(expireAtSeconds, client.expiredCloseDelayMs);
  return isExtending(session, "") ? Number.POSITIVE_INFINITY : endMs(expireAtSeconds, 0);
}

/** How long after it has expired a subscription ends; Infinity while a backend is asked. */
function endDelayMs(session: CommandSession, granted: SubscriptionSnapshot): number {
  if (isExtending(session, granted.channel)) return Number.POSITIVE_INFINITY;
  const { expiredSubCloseDelayMs } = session.context.config.client;
  return hookOf(session, granted) === undefined ? expiredSubCloseDelayMs : 0;
}

function isExtending(session: CommandSession, channel: string): boolean {
  return session.context.approver?.refresh.isUnderWay(session, channel) === true;
}

/** The backend that extends a subscription; undefined if the client has to. */
function hookOf(
  { context }: CommandSession,
  { channel, serverRefresh }: SubscriptionSnapshot,
): HookTarget | undefined {
  if (serverRefresh !== true) return undefined;
  const known = context.channels.resolve(channel);
  return known.outcome === "resolved" ? known.options.subRefreshHook : undefined;
}

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
 * Whether others may see that the client is there. They may in these cases:
 *
 * - Its user's connections are limited, or a backend gets events of who is online.
 * - It is present or announced on a channel, or may become so by the options of a channel to which it can subscribe.
 * - A feature notes what was delivered there.
 *
 * The grants of later subscription tokens can't be known here.
 */
function mayBeSeen({ context, subscriptions }: CommandSession): boolean {
  const { channels, channel, config, deliveries } = context;
  const isSeen = subscriptions.all.some(({ granted }) => granted.present || granted.announced);
  const { client, events } = config;
  const isCounted = client.userConnectionLimit > 0 || events?.types.has("user_online") === true;
  if (isSeen || isCounted) return true;
  if (deliveries?.notes(channel) === true) return true;
  if (channel !== undefined) {
    const known = channels.resolve(channel);
    return known.outcome === "resolved" && showsSubscribers(known.options);
  }
  return everyOptions(config.channel).some(showsSubscribers);
}

function showsSubscribers({ presence, joinLeave, presenceMaps }: ChannelOptions): boolean {
  return presence || joinLeave || presenceMaps !== undefined;
}
