/**
 * Whether tokens still stand that were verified (rules U10 and U11): a backend may have revoked them, or made all earlier
 * tokens of the user invalid. What the object doesn't know, it asks the homes for before a command reaches its session;
 * orders of the homes change what it knows. So a command asks it again when it is carried out.
 */
import { hasPassed } from "../moment.ts";
import type { Invalidation } from "../contract/user-order.ts";
import { disconnectCodes, unsubscribeCodes } from "../protocol/codes.ts";
import { tokenEndSeconds, type TokenState } from "../users/local-tokens.ts";
import type { CommandSession, VerifiedTokens } from "./ports.ts";

/**
 * Asks the homes about the token of a refresh, a subscribe or a sub_refresh, if that is necessary.
 *
 * @param done takes the tokens, in which one that doesn't stand isn't verified any more
 * @returns whether the homes are asked; otherwise `done` isn't called, and {@link standingTokens} can say
 */
export function askForTokens(
  session: CommandSession,
  tokens: VerifiedTokens,
  done: (tokens: VerifiedTokens) => void,
): boolean {
  const { users, config } = session.context;
  const claims = verifiedClaims(tokens);
  if (users === undefined || claims === undefined) return false;
  const { uid, expireAtSeconds } = claims;
  const { user } = session;
  const isUnknown = mustAskUser(session);
  if (uid === undefined && !isUnknown) return false;
  const askToken = (): void => {
    if (uid === undefined) done(tokens);
    else {
      users.tokens.check(uid, tokenEndSeconds(expireAtSeconds, config.client), (state) =>
        done(afterAnswer(tokens, state)),
      );
    }
  };
  if (isUnknown) users.register(user, askToken);
  else askToken();
  return true;
}

/** The tokens of a command that is carried out now, in which one that doesn't stand isn't verified any more. */
export function standingTokens(
  session: CommandSession,
  tokens: VerifiedTokens,
  nowMs: number,
): VerifiedTokens {
  const { users } = session.context;
  const claims = verifiedClaims(tokens);
  if (users === undefined || claims === undefined) return tokens;
  const { uid, issuedAtSeconds } = claims;
  if (uid !== undefined && users.tokens.isRevoked(uid, nowMs)) return refused(tokens, revoked);
  if (session.identity.invalidated !== true) return tokens;
  const invalidations = users.invalidations(session.user);
  if (invalidations === undefined) return refused(tokens, unavailable);
  const channel = "channel" in claims ? claims.channel : undefined;
  const isInvalid = invalidations.some(
    (one) => concerns(one, issuedAtSeconds, channel) && !hasPassed(one.expireAtSeconds, nowMs),
  );
  return isInvalid ? refused(tokens, invalidated) : tokens;
}

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
  if (session.identity.claims?.uid === uid) {
    session.disconnect(disconnectCodes.invalidToken);
    return;
  }
  for (const { granted } of session.subscriptions.all)
    if (granted.uid === uid) session.unsubscribe(granted.channel, unsubscribeCodes.server);
}

/** Whether the connection or one of its subscriptions, pending ones included, was made with a token. */
export function usesToken({ identity, subscriptions }: CommandSession, uid: string): boolean {
  return (
    identity.claims?.uid === uid || subscriptions.all.some(({ granted }) => granted.uid === uid)
  );
}

/** Whether something made tokens of the session's user invalid, and this object doesn't know what. */
function mustAskUser({ identity, context, user }: CommandSession): boolean {
  return identity.invalidated === true && context.users?.invalidations(user) === undefined;
}

/** @param channel of a subscription token; undefined for a connection token */
function concerns(
  { channel: only, issuedBeforeSeconds }: Invalidation,
  issuedAtSeconds: number | undefined,
  channel: string | undefined,
): boolean {
  return (only === "" || only === channel) && (issuedAtSeconds ?? 0) < issuedBeforeSeconds;
}

function verifiedClaims({ connection, subscription }: VerifiedTokens) {
  const verdict = connection ?? subscription;
  return verdict?.outcome === "verified" ? verdict.claims : undefined;
}

function afterAnswer(tokens: VerifiedTokens, state: TokenState): VerifiedTokens {
  switch (state) {
    case "valid":
      return tokens;
    case "revoked":
      return refused(tokens, revoked);
    case "unknown":
      return refused(tokens, unavailable);
  }
}

type RefusedToken = typeof revoked | typeof invalidated | typeof unavailable;

function refused({ connection }: VerifiedTokens, verdict: RefusedToken): VerifiedTokens {
  return connection === undefined ? { subscription: verdict } : { connection: verdict };
}

const revoked = { outcome: "invalid", reason: "it is revoked", rule: "U10" } as const;
const invalidated = {
  outcome: "invalid",
  reason: "invalidate_user_tokens names it",
  rule: "U11",
} as const;
const unavailable = { outcome: "unavailable" } as const;
