import { disconnectCodes } from "../protocol/codes.ts";
import { type Decision, disconnectWith } from "./decision.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";

/**
 * When to ask a client whether it is there, and when to give it up (rules K1 to K5).
 * Server-driven: we send a ping each interval. All of an object's sockets share one tick: whoever's last ping is more than
 * half an interval old is pinged along with the one that is due, so that they fall into step.
 * Client-driven: the client pings, the runtime answers without waking us, and we look at when it last did.
 */

/** When this session's next ping is due, ms since 1970; Infinity for never. */
export function pingDueAtMs(session: SessionIdentity, intervalMs: number): number {
  if (session.phase !== "connected" || session.keepalive === "client")
    return Number.POSITIVE_INFINITY;
  return (session.pingedAtMs ?? session.openedAtMs) + intervalMs;
}

export type Heartbeat = "nothing" | "ping" | "no-pong" | "gone";

/**
 * What to do with a session now.
 *
 * @param tick       whether some session of the object is due for a ping
 * @param lastHeardMs when the runtime last answered this client's own ping; undefined when it never did
 */
export function heartbeat(
  session: SessionIdentity,
  intervalMs: number,
  tick: boolean,
  lastHeardMs: number | undefined,
  nowMs: number,
): Heartbeat {
  if (session.phase !== "connected") return "nothing";
  if (session.keepalive === "client") {
    const silentMs = nowMs - Math.max(lastHeardMs ?? 0, session.openedAtMs);
    return silentMs > 2 * intervalMs + graceMs ? "gone" : "nothing";
  }
  const sinceMs = nowMs - (session.pingedAtMs ?? session.openedAtMs);
  if (!tick || sinceMs < intervalMs / 2) return "nothing";
  if (session.awaitingPong !== true) return "ping";
  return sinceMs >= Math.min(pongTimeoutMs, intervalMs) ? "no-pong" : "nothing";
}

/** What a client's answer to a ping comes to. */
export function pong(awaitingPong: boolean | undefined): Decision {
  // An answer nobody asked for keeps a dead connection looking alive (docs/protocol.md 1.4, item 7).
  if (awaitingPong !== true) return disconnectWith(disconnectCodes.badRequest);
  return { outcome: "silent", changes: { awaitingPong: false } };
}

/** Centrifugo's `pong_timeout`; a shorter interval leaves less. */
const pongTimeoutMs = 8_000;
/** A client may miss one ping of its own, and its network may be slow about the next. */
const graceMs = 10_000;
