import type { ConnectionClaims, ConnectionVerdict } from "../access/claims.ts";
import type { ClientConfig } from "../config/config.ts";
import { limits } from "../limits.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { ConnectResult } from "../protocol/reply.ts";
import { type Decision, disconnectWith, failWith } from "./decision.ts";
import type { SessionSnapshot } from "./snapshot.ts";

/**
 * Decides on a connect command (rules C1 to C5, reference 1.4 and 5.1).
 *
 * @param verdict what became of the command's token; absent when it carried none
 * @param version what the server calls itself
 */
export function connect(
  id: number,
  snapshot: SessionSnapshot,
  verdict: ConnectionVerdict | undefined,
  config: ClientConfig,
  version: string,
  nowMs: number,
): Decision {
  if (snapshot.phase !== "new") return disconnectWith(disconnectCodes.badRequest);
  const credentials = credentialsOf(snapshot, verdict, config, nowMs);
  if (credentials.outcome !== "accepted") {
    if (credentials.outcome !== "error") return credentials;
    return { ...credentials, snapshot: { ...snapshot, phase: "refused" } };
  }
  const { claims } = credentials;
  const connected: SessionSnapshot = { ...snapshot, phase: "connected", claims };
  if (!fitsSnapshot(connected)) {
    return failWith(errorCodes.limitExceeded, { ...snapshot, phase: "refused" });
  }
  const result: ConnectResult = {
    client: snapshot.client,
    version,
    ttlSeconds: ttlSeconds(claims.expireAtSeconds, nowMs),
    pingSeconds: config.pingIntervalMs / 1000,
    // Whoever pings by itself must not answer ours: the answer would wake the object.
    pong: snapshot.keepalive === "server",
    ...(config.connectIncludeServerTime ? { timeMs: nowMs } : {}),
  };
  return { outcome: "reply", reply: { id, method: "connect", result }, snapshot: connected };
}

type Credentials = { readonly outcome: "accepted"; readonly claims: ConnectionClaims } | Decision;

function credentialsOf(
  snapshot: SessionSnapshot,
  verdict: ConnectionVerdict | undefined,
  config: ClientConfig,
  nowMs: number,
): Credentials {
  const fromEdge = snapshot.claims;
  if (verdict?.outcome === "invalid") return disconnectWith(disconnectCodes.invalidToken);
  if (verdict?.outcome === "expired") return failWith(errorCodes.tokenExpired);
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

/** Whether a snapshot fits into what survives sleep; what doesn't fit is refused, never cut (rule B2). */
export function fitsSnapshot(snapshot: SessionSnapshot): boolean {
  // Attachments store Latin-1 text in one byte a character and other text in two.
  return JSON.stringify(snapshot).length <= limits.sessionSnapshotBytesMax / 2;
}

/** Whether a credential's end has passed; 0 is never. */
export function hasEnded(expireAtSeconds: number, nowMs: number): boolean {
  return expireAtSeconds !== 0 && expireAtSeconds * 1000 <= nowMs;
}
