import {
  type ConnectionClaims,
  type ConnectionVerdict,
  withoutSubscriptions,
} from "../access/claims.ts";
import type { ClientConfig } from "../config/config.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { ConnectResult } from "../protocol/reply.ts";
import { fitsAttachment } from "../contract/attachment.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";

/** Somebody may connect, as these claims say. */
export interface Accepted {
  readonly outcome: "accepted";
  readonly claims: ConnectionClaims;
}

/**
 * Decides on a connect command (rules C1 to C5, reference 1.4 and 5.1).
 *
 * @param verdict what became of the command's token; absent when it carried none
 */
export function connect(
  session: SessionIdentity,
  verdict: ConnectionVerdict | undefined,
  config: ClientConfig,
  nowMs: number,
): Accepted | Decision {
  if (session.phase !== "new") return disconnectWith(disconnectCodes.badRequest);
  const credentials = credentialsOf(session, verdict, config, nowMs);
  if (credentials.outcome === "error") return { ...credentials, changes: refused };
  if (credentials.outcome !== "accepted") return credentials;
  return fitsAttachment(withoutSubscriptions(credentials.claims))
    ? credentials
    : failWith(errorCodes.limitExceeded, refused);
}

/** What a session is after its connect was answered with an error (rule C4). */
export const refused = { phase: "refused" } as const;

/**
 * The result of a connect that was accepted, but for the subscriptions.
 *
 * @param version what the server calls itself
 */
export function connectResult(
  { client, keepalive, codec }: SessionIdentity,
  claims: ConnectionClaims,
  config: ClientConfig,
  version: string,
  nowMs: number,
): ConnectResult {
  return {
    client,
    version,
    ttlSeconds: ttlSeconds(claims.expireAtSeconds, nowMs),
    pingSeconds: config.pingIntervalMs / 1000,
    // Whoever pings by itself must not answer ours: the answer would wake the object. Who only listens can't.
    pong: keepalive === "server" && codec !== "one_way",
    ...(config.connectIncludeServerTime ? { timeMs: nowMs } : {}),
  };
}

function credentialsOf(
  session: SessionIdentity,
  verdict: ConnectionVerdict | undefined,
  config: ClientConfig,
  nowMs: number,
): Accepted | Decision {
  const fromEdge = session.claims;
  if (verdict?.outcome === "invalid") return disconnectWith(disconnectCodes.invalidToken);
  if (verdict?.outcome === "expired") return failWith(errorCodes.tokenExpired);
  if (verdict?.outcome === "unavailable") return failWith(errorCodes.internal);
  const claims = verdict?.claims ?? fromEdge;
  if (claims === undefined) {
    return config.allowAnonymousConnectWithoutToken
      ? { outcome: "accepted", claims: { user: "", expireAtSeconds: 0 } }
      : disconnectWith(disconnectCodes.badRequest);
  }
  // Two tokens, two users: one of them is somebody else's.
  if (fromEdge !== undefined && fromEdge.user !== claims.user)
    return disconnectWith(disconnectCodes.invalidToken);
  if (hasEnded(claims.expireAtSeconds, nowMs)) {
    // A token verified at the edge may end before connect; one that is fresh may name an end that has passed.
    return failWith(verdict === undefined ? errorCodes.tokenExpired : errorCodes.expired);
  }
  if (claims.user === "" && config.disallowAnonymousConnectionTokens) {
    return disconnectWith(disconnectCodes.permissionDenied);
  }
  return { outcome: "accepted", claims };
}

/**
 * Whole seconds until then, at least 1: clients read 0 as never, which is what it means for an end of 0. On the wire it
 * is a uint32, whatever far future a token names.
 */
export function ttlSeconds(expireAtSeconds: number, nowMs: number): number {
  if (expireAtSeconds === 0) return 0;
  return Math.min(Math.max(1, Math.floor(expireAtSeconds - nowMs / 1000)), 2 ** 32 - 1);
}

/** When a credential's end has passed for so long, ms since 1970; Infinity for never. */
export function endMs(expireAtSeconds: number | undefined, delayMs: number): number {
  if (expireAtSeconds === undefined || expireAtSeconds === 0) return Number.POSITIVE_INFINITY;
  return expireAtSeconds * 1000 + delayMs;
}

/** Whether a credential's end has passed; 0 is never. */
export function hasEnded(expireAtSeconds: number, nowMs: number): boolean {
  return expireAtSeconds !== 0 && expireAtSeconds * 1000 <= nowMs;
}
