import { tokenEndSeconds, type TokenState } from "../users/local-tokens.ts";
import type { UserAnswer } from "../users/local-users.ts";
import { type DisconnectCode, disconnectCodes } from "../protocol/codes.ts";
import type { CommandSession, Users } from "./ports.ts";
import { endInvalid } from "./token-standing.ts";

/**
 * Asks whether a session may begin, once its connect is accepted: the home of its user (rules U4, U9, U11 and U12), and
 * that of its token if the token has a `jti` (rule U10). Unless all of it is known, the session is held until both have
 * answered.
 */
export function admit(session: AdmittedSession, users: Users, nowMs: number): void {
  const { user, identity, context } = session;
  const { uid, expireAtSeconds = 0 } = identity.claims ?? {};
  let missing = 1;
  const answered = (): void => {
    missing--;
    if (missing === 0 && session.held) session.admitted();
  };
  if (user !== "") {
    missing++;
    users.register(user, (answer) => {
      if (!session.closed) beginAfter(session, answer, nowMs);
      answered();
    });
  }
  // The answer may have been known already, and have ended the connection.
  if (session.closed) return;
  if (user !== "" && needsSlot(session)) {
    missing++;
    users.admit(user, session.identity.client, (answer) => {
      if (!session.closed) heedSlot(session, answer);
      answered();
    });
  }
  if (uid !== undefined) {
    missing++;
    if (user === "") session.identity = { ...session.identity, lastOrder: 0 };
    users.tokens.check(uid, tokenEndSeconds(expireAtSeconds, context.config.client), (state) => {
      if (!session.closed) heed(session, state);
      answered();
    });
  }
  missing--;
  if (missing > 0 && !session.closed) session.hold();
}

/** Whether the user's home has to admit each connection (rules C10, U12). A long poll replaces no connection (rule T9). */
function needsSlot({ context, identity }: AdmittedSession): boolean {
  const { userConnectionLimit, personalChannel } = context.config.client;
  return userConnectionLimit > 0 || (personalChannel.singleConnection && identity.passing !== true);
}

/** Takes the answer of the user's home. */
function beginAfter(session: AdmittedSession, answer: UserAnswer, nowMs: number): void {
  switch (answer.outcome) {
    case "unknown":
      session.turnAway("U4", noAnswer, disconnectCodes.internalServerError);
      return;
    case "blocked":
      session.turnAway("U9", "the user is blocked", disconnectCodes.permissionDenied);
      return;
    case "registered":
      break;
  }
  const { lastOrder, invalidations } = answer;
  session.identity = {
    ...session.identity,
    lastOrder,
    ...(invalidations.length === 0 ? {} : { invalidated: true }),
  };
  const refuse = () =>
    session.turnAway("U11", "invalidate_user_tokens names the token", disconnectCodes.invalidToken);
  for (const one of invalidations) endInvalid(session, one, nowMs, refuse);
}

const noAnswer = "the user's home didn't answer in time";

/** Takes the answer of the token's home. */
function heed(session: AdmittedSession, state: TokenState): void {
  switch (state) {
    case "valid":
      return;
    case "revoked":
      session.turnAway("U10", "the token is revoked", disconnectCodes.invalidToken);
      return;
    case "unknown":
      session.turnAway(
        "U4",
        "the token's home didn't answer in time",
        disconnectCodes.internalServerError,
      );
  }
}

/** Takes the answer of the user's home about a slot. */
function heedSlot(session: AdmittedSession, answer: "admitted" | "full" | "unknown"): void {
  switch (answer) {
    case "admitted":
      return;
    case "full":
      session.turnAway(
        "U12",
        "the user has client.user_connection_limit connections",
        disconnectCodes.connectionLimit,
      );
      return;
    case "unknown":
      session.turnAway("U4", noAnswer, disconnectCodes.internalServerError);
  }
}

/** A session as its admission sees it. */
interface AdmittedSession extends CommandSession {
  /** Holds back what is sent from now on, until {@link admitted}. */
  hold(): void;
  /** All homes have answered: the client gets what was held back. */
  admitted(): void;
  /** Closes the connection, and tells the log why (rule A13). */
  turnAway(rule: string, reason: string, code: DisconnectCode): void;
}
