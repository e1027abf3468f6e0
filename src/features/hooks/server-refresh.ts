import { hasPassed } from "../../moment.ts";
import type { HookTarget } from "../../config/config.ts";
import type { SubscriptionSnapshot } from "../../contract/session-snapshot.ts";
import { type HookAnswer, reasonOf } from "./hooks.ts";
import type { HookSubject } from "./request.ts";
import { type Life, parseRefreshResult } from "./response.ts";
import { hookLimits } from "./limits.ts";
import { disconnectCodes, unsubscribeCodes } from "../../protocol/codes.ts";
import { changeLife, pushEnd } from "../../session/refresh.ts";
import type { CommandSession, Refresh } from "../../session/ports.ts";
import type { Subscription } from "../../session/subscription.ts";

/**
 * Extends the lives of connections and of their subscriptions in the clients' place, by asking backends when they expire
 * (rule Q9). A backend that can't be asked extends them, too, for a while.
 */
export class ServerRefresh implements Refresh {
  readonly #ask: AskForSession;
  /** The channels of a session whose subscription is being refreshed, and "" for the connection; absent while none is. */
  readonly #underWay = new WeakMap<CommandSession, Set<string>>();

  /** @param ask asks a backend for a session, unless its connection has ended by the answer */
  constructor(ask: AskForSession) {
    this.#ask = ask;
  }

  isUnderWay(session: CommandSession, channel: string): boolean {
    return this.#underWay.get(session)?.has(channel) === true;
  }

  /** The caller sees to it that none is under way. */
  extend(
    session: CommandSession,
    target: HookTarget,
    subscription: SubscriptionSnapshot | undefined,
    nowMs: number,
  ): void {
    if (subscription !== undefined) {
      this.#extendSubscription(session, target, subscription, nowMs);
      return;
    }
    this.#refresh(session, target, { hook: "refresh" }, nowMs, (outcome, answeredMs) => {
      // As in Centrifugo, a result that names no new end leaves the old one, which has passed.
      if (outcome === "ended" || outcome.expireAtSeconds === 0)
        session.disconnect(disconnectCodes.connectionExpired);
      else this.#prolong(session, outcome, answeredMs);
    });
  }

  #prolong(session: CommandSession, life: Life, nowMs: number): void {
    const { registrar } = session.context;
    if (registrar === undefined) {
      extendConnection(session, life, nowMs);
      return;
    }
    this.#begin(session, "");
    registrar.askBeforeProlonging(session, life.expireAtSeconds, (state) => {
      this.#end(session, "");
      if (session.closed) return;
      if (state === "valid") extendConnection(session, life, nowMs);
      else if (state === "revoked") session.disconnect(disconnectCodes.invalidToken);
      // The client comes back, as after a connect about which the home doesn't answer (rule U4).
      else session.disconnect(disconnectCodes.internalServerError);
    });
  }

  #extendSubscription(
    session: CommandSession,
    target: HookTarget,
    { channel }: SubscriptionSnapshot,
    nowMs: number,
  ): void {
    const subject = { hook: "sub_refresh", channel } as const;
    this.#refresh(session, target, subject, nowMs, (outcome) => {
      const current = session.subscriptions.get(channel);
      // It may have ended meanwhile, or be another one.
      if (current === undefined || current.granted.serverRefresh !== true) return;
      if (outcome === "ended") session.unsubscribe(channel, unsubscribeCodes.subscriptionExpired);
      else extendSubscription(session, current, outcome);
    });
  }

  #refresh(
    session: CommandSession,
    target: HookTarget,
    subject: HookSubject,
    nowMs: number,
    done: (outcome: Life | "ended", nowMs: number) => void,
  ): void {
    const { channel = "" } = subject;
    this.#begin(session, channel);
    this.#ask(session, target, subject, nowMs, (answer, answeredMs) => {
      this.#end(session, channel);
      if (answer.outcome === "disconnect") session.disconnect(answer.code);
      else done(lifeOf(session, answer, target, answeredMs), answeredMs);
    });
  }

  #begin(session: CommandSession, channel: string): void {
    const channels = this.#underWay.get(session) ?? new Set();
    this.#underWay.set(session, channels.add(channel));
  }

  #end(session: CommandSession, channel: string): void {
    const channels = this.#underWay.get(session);
    channels?.delete(channel);
    if (channels?.size === 0) this.#underWay.delete(session);
  }
}

/** Asks a backend for a session; `done` is called at most once, with the time. */
type AskForSession = (
  session: CommandSession,
  target: HookTarget,
  subject: HookSubject,
  nowMs: number,
  done: (answer: HookAnswer, nowMs: number) => void,
) => void;

/** The new life of what was asked about: if the backend can't say, a while longer. */
function lifeOf(
  session: CommandSession,
  answer: Exclude<HookAnswer, { readonly outcome: "disconnect" }>,
  target: HookTarget,
  nowMs: number,
): Life | "ended" {
  if (answer.outcome !== "result") return extended(session, reasonOf(answer, target), nowMs);
  const read = parseRefreshResult(answer.result);
  switch (read.outcome) {
    case "expired":
      return "ended";
    case "invalid": {
      const reason = `${target.name}: the result can't be used: ${read.reason}`;
      return extended(session, reason, nowMs);
    }
    case "read":
      return hasPassed(read.life.expireAtSeconds, nowMs) ? "ended" : read.life;
  }
}

function extended({ context, user }: CommandSession, reason: string, nowMs: number): Life {
  context.refused?.({ refused: "refresh", rule: "Q9", reason, user });
  return { expireAtSeconds: Math.floor(nowMs / 1_000) + hookLimits.hookExtensionSeconds };
}

function extendConnection(session: CommandSession, life: Life, nowMs: number): void {
  const { expireAtSeconds } = life;
  // There is no room for such an info, as there wouldn't be if a token brought it (rule B2); the life is extended.
  if (!changeLife(session, life))
    session.change({ claims: { user: session.user, ...session.identity.claims, expireAtSeconds } });
  if (session.unidirectional) pushEnd(session, expireAtSeconds, nowMs);
}

function extendSubscription(
  session: CommandSession,
  subscription: Subscription,
  { expireAtSeconds, info }: Life,
): void {
  const { granted: before } = subscription;
  const extendedGrant = { ...before, expireAtSeconds };
  const shown = info === undefined ? extendedGrant : { ...extendedGrant, chanInfo: info };
  const { snapshots } = session.subscriptions;
  const others = snapshots.filter(({ channel }) => channel !== before.channel);
  const fits = session.hasRoom([...others, shown]);
  session.context.channels.catchUp(subscription);
  subscription.renew(fits ? shown : extendedGrant, session.identity);
}
