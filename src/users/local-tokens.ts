import { hasPassed, lastsAsLong } from "../moment.ts";
import type { ClientConfig } from "../config/config.ts";
import { tokenKey } from "../contract/identity-key.ts";
import type { CarriedOut, NumberedOrder } from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { endRevoked, tokensOf, usesToken } from "./ended-tokens.ts";
import type { Registrations } from "./registrations.ts";
import type { CommandSession } from "../session/ports.ts";

/**
 * The tokens with a `jti` of one object's connections and subscriptions: it asks their homes whether they are revoked,
 * and carries out revocations (rule U10). A token is asked for once. Everything here may be lost: the homes know what
 * this object holds, sessions store the `jti` of what they hold, and asking again costs a call and no row.
 */
export class LocalTokens {
  readonly #registrations: Registrations;
  /** The tokens that this object is registered for, with the ends of the registrations. */
  readonly #known = new Map<string, number>();
  readonly #pending = new Map<string, PendingToken>();
  /**
   * When revocations end that came as orders, by the token: for commands that were under way with the token then.
   */
  readonly #revoked = new Map<string, number>();

  constructor(registrations: Registrations) {
    this.#registrations = registrations;
  }

  /**
   * Asks whether a token is revoked, and registers this object as a holder of what is made with it.
   *
   * @param uid        the token's `jti`
   * @param endSeconds when what is made with the token ends at the latest, see {@link tokenEndSeconds}
   * @param done       takes the answer, at once if it is known
   */
  check(uid: string, endSeconds: number, done: (state: TokenState) => void): void {
    const known = this.#known.get(uid);
    if (known !== undefined && lastsAsLong(known, endSeconds)) {
      done("valid");
      return;
    }
    const pending = this.#pending.get(uid);
    if (pending !== undefined && lastsAsLong(pending.endSeconds, endSeconds)) {
      pending.waiting.push(done);
      return;
    }
    const asked = { endSeconds, waiting: [...(pending?.waiting ?? []), done], isRevoked: false };
    this.#pending.set(uid, asked);
    this.#registrations.register(tokenKey(uid), endSeconds, (registration) => {
      // Another question, for a later end, has taken over who waits.
      if (this.#pending.get(uid) !== asked) return;
      this.#pending.delete(uid);
      const isRevoked = asked.isRevoked || registration?.barred === true;
      const isValid = registration !== undefined && !isRevoked;
      if (isValid) this.#know(uid, endSeconds);
      const state = isRevoked ? "revoked" : isValid ? "valid" : "unknown";
      for (const answer of asked.waiting) answer(state);
    });
  }

  /**
   * Asks about the token of a connection that may last longer, if it can be revoked: its home has to know it for so long
   * (rule U33).
   */
  checkLonger(
    { identity, context }: CommandSession,
    expireAtSeconds: number,
    done: (state: TokenState) => void,
  ): void {
    const uid = identity.claims?.uid;
    if (uid === undefined) done("valid");
    else this.check(uid, tokenEndSeconds(expireAtSeconds, context.config.client), done);
  }

  /** Whether an order has revoked the token since its home was asked. */
  isRevoked(uid: string, nowMs: number): boolean {
    const untilSeconds = this.#revoked.get(uid);
    return untilSeconds !== undefined && !hasPassed(untilSeconds, nowMs);
  }

  /**
   * Carries out a home's orders for what was made with a token.
   *
   * @param sessions all sessions of the object
   */
  carryOut(
    uid: string,
    orders: readonly NumberedOrder[],
    sessions: Iterable<CommandSession>,
    nowMs: number,
  ): CarriedOut {
    const all = [...sessions];
    let left = this.#pending.has(uid);
    for (const { order } of orders) {
      // Another order than a revocation is one of the next release, which repeats it until it is known here.
      if (order.method !== "revoke_token") return { left: true, failed: true };
      if (hasPassed(order.expireAtSeconds, nowMs)) {
        // The token is valid again, and a command with it may be under way.
        left = true;
        continue;
      }
      this.#known.delete(uid);
      const pending = this.#pending.get(uid);
      if (pending !== undefined) pending.isRevoked = true;
      this.#remember(uid, order.expireAtSeconds);
      for (const session of all) endRevoked(session, uid);
    }
    return { left: left || all.some((one) => usesToken(one, uid)) };
  }

  /**
   * Whether the token's revocation still has to be sent to the object (rule U15). If nothing made with a token is left,
   * it is forgotten here first, and by its home a sweep later: a command with it may still be under way.
   *
   * @param sessions all sessions of the object
   */
  isHeld(uid: string, sessions: readonly CommandSession[]): boolean {
    if (this.#pending.has(uid) || sessions.some((one) => usesToken(one, uid))) return true;
    return this.#known.delete(uid);
  }

  /**
   * The tokens whose orders have to be sent to the object, with the ends of their registrations: in seconds since 1970,
   * 0 if the end isn't known.
   *
   * @param sessions all sessions of the object
   */
  held(sessions: readonly CommandSession[]): ReadonlyMap<string, number> {
    const held = new Map(this.#known);
    for (const [uid, { endSeconds }] of this.#pending) held.set(uid, endSeconds);
    for (const session of sessions)
      for (const uid of tokensOf(session)) if (!held.has(uid)) held.set(uid, 0);
    return held;
  }

  #know(uid: string, endSeconds: number): void {
    if (this.#known.size >= limits.usersRememberedMax) this.#known.clear();
    this.#known.set(uid, endSeconds);
    this.#revoked.delete(uid);
  }

  #remember(uid: string, untilSeconds: number): void {
    this.#revoked.delete(uid);
    this.#revoked.set(uid, untilSeconds);
    if (this.#revoked.size <= limits.revokedTokensRememberedMax) return;
    const [oldest = uid] = this.#revoked.keys();
    this.#revoked.delete(oldest);
  }
}

/** What a home says of a token. unknown: it didn't answer in time. */
export type TokenState = "valid" | "revoked" | "unknown";

/**
 * When the registration of a token may be forgotten, in seconds since 1970; 0 for never: what was made with the token has
 * ended by then, and the token itself.
 *
 * @param expireAtSeconds when the token's connection or subscription ends, in seconds since 1970; 0 for never
 */
export function tokenEndSeconds(
  expireAtSeconds: number,
  { expiredCloseDelayMs, expiredSubCloseDelayMs }: ClientConfig,
): number {
  if (expireAtSeconds === 0) return 0;
  const delayMs = Math.max(expiredCloseDelayMs, expiredSubCloseDelayMs);
  return expireAtSeconds + Math.ceil(delayMs / 1_000) + limits.tokenKeptSeconds;
}

interface PendingToken {
  readonly endSeconds: number;
  readonly waiting: ((state: TokenState) => void)[];
  /** Whether an order has revoked the token meanwhile: then the answer may be older than the revocation. */
  isRevoked: boolean;
}
