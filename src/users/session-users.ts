import { disconnectCodes } from "../protocol/codes.ts";
import { hasPassed } from "../moment.ts";
import type {
  AdmittedSession,
  CommandSession,
  Registrar,
  VerifiedTokens,
} from "../session/ports.ts";
import type { EndedUsers } from "./ended-users.ts";
import { concerns, endInvalid } from "./ended-tokens.ts";
import { tokenEndSeconds, type TokenState } from "./local-tokens.ts";
import type { LocalUsers, UserAnswer } from "./local-users.ts";

/**
 * Registers the sessions of one object with the homes of their users and tokens.
 *
 * Tokens that were verified may not stand any more (rules U10 and U11): a backend may have revoked them, or made all
 * earlier tokens of the user invalid. Before a command reaches its session, the object asks the homes for what it
 * doesn't know. Later orders of the homes change what it knows. So a command is checked again when it is carried out.
 */
export class SessionUsers implements Registrar {
  readonly #users: LocalUsers;
  readonly #ended: EndedUsers | undefined;

  /** @param ended takes each connection of a user that ends; absent where nobody asks who is online (rules U26, E17) */
  constructor(users: LocalUsers, ended?: EndedUsers) {
    this.#users = users;
    this.#ended = ended;
  }

  /**
   * Asks whether a session may begin: the home of its user (rules U4, U9, U11 and U12), and that of its token if the token
   * has a `jti` (rule U10). Unless all of it is known, the session is held until both have answered. One that is restored
   * was admitted before, unless a release without homes made it, or `client.users.enabled` was off.
   */
  admit(session: AdmittedSession, nowMs: number): void {
    const { user, identity, context } = session;
    if (identity.lastOrder !== undefined) return;
    const { uid, expireAtSeconds = 0 } = identity.claims ?? {};
    let missing = 1;
    const answered = (): void => {
      missing--;
      if (missing === 0 && session.held) session.admitted();
    };
    // An onlooker isn't reported to the user's home (rule N26).
    const isUsers = user !== "" && identity.onlooker !== true;
    if (isUsers) {
      missing++;
      this.#users.register(user, (answer) => {
        if (!session.closed) beginAfter(session, answer, nowMs);
        answered();
      });
    }
    // The answer may have been known already, and have ended the connection.
    if (session.closed) return;
    if (isUsers && needsSlot(session)) {
      missing++;
      this.#users.admit(user, session.identity.client, (answer) => {
        if (!session.closed) refuseWithoutSlot(session, answer);
        answered();
      });
    }
    if (uid !== undefined) {
      missing++;
      if (!isUsers) session.identity = { ...session.identity, lastOrder: 0 };
      this.#users.tokens.check(
        uid,
        tokenEndSeconds(expireAtSeconds, context.config.client),
        (state) => {
          if (!session.closed) refuseByToken(session, state);
          answered();
        },
      );
    }
    missing--;
    if (missing > 0 && !session.closed) session.hold();
  }

  ended(session: CommandSession, hadConnected: boolean): void {
    const { user, held, identity } = session;
    if (user !== "" && identity.onlooker !== true)
      this.#ended?.ended({ user, hasConnected: hadConnected, held, identity });
    this.#users.orders.ended(session);
  }

  askForTokens(
    session: CommandSession,
    tokens: VerifiedTokens,
    done: (tokens: VerifiedTokens) => void,
  ): boolean {
    const claims = verifiedClaims(tokens);
    if (claims === undefined) return false;
    const { uid, expireAtSeconds } = claims;
    const { user, identity, context } = session;
    // Something made tokens of the user invalid, and this object doesn't know what.
    const isUnknown =
      identity.invalidated === true && this.#users.invalidations(user) === undefined;
    if (uid === undefined && !isUnknown) return false;
    const askToken = (): void => {
      if (uid === undefined) done(tokens);
      else {
        this.#users.tokens.check(
          uid,
          tokenEndSeconds(expireAtSeconds, context.config.client),
          (state) => done(afterAnswer(tokens, state)),
        );
      }
    };
    if (isUnknown) this.#users.register(user, askToken);
    else askToken();
    return true;
  }

  validTokens(session: CommandSession, tokens: VerifiedTokens, nowMs: number): VerifiedTokens {
    const claims = verifiedClaims(tokens);
    if (claims === undefined) return tokens;
    const { uid, issuedAtSeconds } = claims;
    if (uid !== undefined && this.#users.tokens.isRevoked(uid, nowMs))
      return refused(tokens, revoked);
    if (session.identity.invalidated !== true) return tokens;
    const invalidations = this.#users.invalidations(session.user);
    if (invalidations === undefined) return refused(tokens, unavailable);
    const channel = "channel" in claims ? claims.channel : undefined;
    const isInvalid = invalidations.some(
      (one) => concerns(one, issuedAtSeconds, channel) && !hasPassed(one.expireAtSeconds, nowMs),
    );
    return isInvalid ? refused(tokens, invalidated) : tokens;
  }

  askBeforeProlonging(
    session: CommandSession,
    expireAtSeconds: number,
    done: (state: TokenState) => void,
  ): void {
    this.#users.tokens.checkLonger(session, expireAtSeconds, done);
  }
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
      session.refuse("U4", noAnswer, disconnectCodes.internalServerError);
      return;
    case "blocked":
      session.refuse("U9", "the user is blocked", disconnectCodes.permissionDenied);
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
    session.refuse("U11", "invalidate_user_tokens names the token", disconnectCodes.invalidToken);
  for (const one of invalidations) endInvalid(session, one, nowMs, refuse);
}

const noAnswer = "the user's home didn't answer in time";

/** Refuses the session unless the token's home knows the token to be valid. */
function refuseByToken(session: AdmittedSession, state: TokenState): void {
  switch (state) {
    case "valid":
      return;
    case "revoked":
      session.refuse("U10", "the token is revoked", disconnectCodes.invalidToken);
      return;
    case "unknown":
      session.refuse(
        "U4",
        "the token's home didn't answer in time",
        disconnectCodes.internalServerError,
      );
  }
}

/** Refuses the session unless the user's home has admitted it. */
function refuseWithoutSlot(
  session: AdmittedSession,
  answer: "admitted" | "full" | "unknown",
): void {
  switch (answer) {
    case "admitted":
      return;
    case "full":
      session.refuse(
        "U12",
        "the user has client.user_connection_limit connections",
        disconnectCodes.connectionLimit,
      );
      return;
    case "unknown":
      session.refuse("U4", noAnswer, disconnectCodes.internalServerError);
  }
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
