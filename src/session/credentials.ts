/** With which credentials a client connects: a token's, those of its upgrade, or a backend's. */
import type { ConnectionClaims, ConnectionVerdict } from "../access/claims.ts";
import { withoutSubscriptions } from "../access/claims.ts";
import { noTokenReason } from "../access/refusal.ts";
import type { ClientConfig } from "../config/config.ts";
import { fitsAttachment } from "../contract/attachment.ts";
import type { SessionIdentity } from "../contract/session-snapshot.ts";
import { hasPassed } from "../moment.ts";
import { disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { JsonText } from "../protocol/json/text.ts";
import {
  type Decision,
  disconnectWith,
  expireAtPassed,
  ofAnother,
  outOfTurn,
  refuseToken,
  refuseWith,
  tooLarge,
} from "./decision.ts";

/** Decides on the credentials of a connect command (rules C1, C3 and C4, docs/protocol.md 1.4 and 5.1). */
export function decideOnCredentials(
  identity: SessionIdentity,
  token: ConnectionVerdict | undefined,
  config: ClientConfig,
  nowMs: number,
): AcceptedConnect | Decision {
  if (identity.phase !== "new") return outOfTurn;
  const credentials = credentialsOf(identity, token, config, nowMs);
  if (credentials.outcome !== "accepted") return refusing(credentials);
  return fitsAttachment(withoutSubscriptions(credentials.claims))
    ? credentials
    : refusing(tooLarge);
}

function credentialsOf(
  identity: SessionIdentity,
  token: ConnectionVerdict | undefined,
  config: ClientConfig,
  nowMs: number,
): AcceptedConnect | Decision {
  const fromEdge = identity.claims;
  if (token !== undefined && token.outcome !== "verified") return refuseToken(token, codes);
  const claims = token?.claims ?? fromEdge;
  if (claims === undefined) {
    return config.allowAnonymousConnectWithoutToken
      ? { outcome: "accepted", claims: { user: "", expireAtSeconds: 0 } }
      : disconnectWith(disconnectCodes.badRequest, "C3", noTokenReason);
  }
  // Credentials of two users: one of them isn't the client's own.
  if (fromEdge !== undefined && fromEdge.user !== claims.user)
    return disconnectWith(disconnectCodes.invalidToken, "C3", ofAnother);
  if (token === undefined && identity.byHook === true) return byBackend(identity, claims, nowMs);
  if (hasPassed(claims.expireAtSeconds, nowMs)) {
    // A valid token that had ended when it was offered, at the upgrade or here, has an expire_at that had passed: 110. One
    // that has ended since its upgrade is answered like any token that has expired: 109 (rule C3).
    const offeredAtMs = token === undefined ? identity.openedAtMs : nowMs;
    return hasPassed(claims.expireAtSeconds, offeredAtMs)
      ? refuseWith(errorCodes.expired, "C3", expireAtPassed)
      : refuseWith(errorCodes.tokenExpired, "C3", "the upgrade's token has expired since");
  }
  const isRefused = config.disallowAnonymousConnectionTokens && identity.onlooker !== true;
  return claims.user === "" && isRefused
    ? disconnectWith(disconnectCodes.permissionDenied, "C3", noAnonymous)
    : { outcome: "accepted", claims };
}

const codes = { invalid: disconnectCodes.invalidToken, expired: errorCodes.tokenExpired };
const noAnonymous =
  "the token names no user, and client.disallow_anonymous_connection_tokens is on";

/** Credentials that a backend gave at the upgrade (rule Q14). If they have ended since, the client comes back for others. */
function byBackend(
  { atUpgrade }: SessionIdentity,
  claims: ConnectionClaims,
  nowMs: number,
): AcceptedConnect | Decision {
  if (hasPassed(claims.expireAtSeconds, nowMs)) {
    const reason = "what the backend gave at the upgrade has ended since";
    return disconnectWith(disconnectCodes.connectionExpired, "Q14", reason);
  }
  return { outcome: "accepted", byHook: true, claims, ...atUpgrade };
}

/** The connect is accepted, with these claims. */
export interface AcceptedConnect {
  readonly outcome: "accepted";
  readonly claims: ConnectionClaims;
  /** A backend gave them; absent: no backend did. */
  readonly byHook?: true;
  /** For the reply, from a backend. */
  readonly data?: JsonText;
}

/** The decision on a connect that is refused: after an error no command is answered (rule C4). */
export function refusing(decision: Decision): Decision {
  return decision.outcome === "error" ? { ...decision, changes: { phase: "refused" } } : decision;
}
